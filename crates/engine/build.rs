//! A new migration is a new file in a folder that cargo would not watch on its own.

fn main() {
    println!("cargo:rerun-if-changed=../../migrations");
}
