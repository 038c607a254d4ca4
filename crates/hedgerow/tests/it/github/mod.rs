//! GitHub, from the first setting on.

mod allowing;
mod checkout;
mod closing;
mod commands;
mod context;
mod doctoring;
mod door;
mod forks;
mod identity;
mod killed;
mod life;
mod live;
mod looking;
mod missed;
mod names;
mod pushing;
mod replay;
mod reviews;
mod settings;
mod setup;
mod storm;
mod strangers;
mod town;
mod work;
