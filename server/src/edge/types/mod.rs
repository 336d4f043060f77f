//! Types of the document's schemas. A value outside the limits cannot be constructed. They are parsed from text or JSON, and a
//! request error says what is wrong with the input.

pub mod address;
pub mod integer;
pub mod json;
pub mod list;
pub mod request_error;
pub mod text;
pub mod time;
pub mod value;
