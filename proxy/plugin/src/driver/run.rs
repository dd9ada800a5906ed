//! One inference run on its own instance.

use std::sync::Arc;

use http::{HeaderMap, HeaderName};
use svc_core::chat::ChatEvent;
use svc_core::sse::Frame;
use wasmtime::component::ResourceAny;

use super::events::{Order, fault};
use super::upstream::framing_from_wit;
use super::{DriverFailure, Framing, StreamEnd, wit, wit_types};
use crate::error::{Failed, PluginError};
use crate::metrics::Function;
use crate::sandbox::Cell;
use crate::version::Version;

/// One inference run. Dropping it ends the guest.
pub struct DriverRun {
    /// None when a call failed, or is under way, or was dropped before it ended: the instance is of no use then.
    /// Boxed, because every call takes it out and puts it back.
    live: Option<Box<Live>>,
    order: Order,
    wanted: Arc<[HeaderName]>,
    version: Arc<Version>,
}

struct Live {
    cell: Cell,
    guest: wit::Guest,
    resource: ResourceAny,
}

impl DriverRun {
    pub(super) fn new(
        cell: Cell,
        guest: wit::Guest,
        resource: ResourceAny,
        order: Order,
        wanted: Arc<[HeaderName]>,
        version: Arc<Version>,
    ) -> Self {
        Self {
            live: Some(Box::new(Live {
                cell,
                guest,
                resource,
            })),
            order,
            wanted,
            version,
        }
    }

    /// Hands over the status and the headers that the driver asked for; answers how to cut the body.
    ///
    /// # Errors
    /// [`DriverFailure`]; the run is over then.
    pub async fn head(
        &mut self,
        status: u16,
        headers: &HeaderMap,
    ) -> Result<Framing, Failed<DriverFailure>> {
        let shown: Vec<wit_types::Header> = self
            .wanted
            .iter()
            .flat_map(|name| headers.get_all(name).iter().map(move |value| (name, value)))
            .filter_map(|(name, value)| {
                Some(wit_types::Header {
                    name: name.as_str().to_owned(),
                    value: value.to_str().ok()?.to_owned(),
                })
            })
            .collect();
        let version = Arc::clone(&self.version);
        let calling = self.head_call(status, &shown);
        version.measured(Function::Head, calling).await
    }

    async fn head_call(
        &mut self,
        status: u16,
        shown: &[wit_types::Header],
    ) -> Result<Framing, DriverFailure> {
        let mut live = self.live.take().ok_or(PluginError::Ended)?;
        let Live {
            cell,
            guest,
            resource,
        } = live.as_mut();
        let (store, allowance) = cell.serving(0);
        let run = guest.run();
        let call = run.call_head(store, *resource, status, shown);
        let answer = allowance.serve(call).await?;
        let framing = answer.map_err(fault)?;
        self.live = Some(live);
        Ok(framing_from_wit(framing))
    }

    /// Hands over the events that have arrived and appends what they mean to `events`, also what came before
    /// a failure.
    ///
    /// # Errors
    /// [`DriverFailure`]; the run is over then.
    pub async fn push(
        &mut self,
        frames: &[Frame],
        events: &mut Vec<ChatEvent>,
    ) -> Result<(), Failed<DriverFailure>> {
        let (buffer, ranges) =
            laid_out(frames).map_err(|error| self.version.failed(error.into()))?;
        self.push_ranges(&buffer, &ranges, events).await
    }

    /// As [`DriverRun::push`], for the framings without event names: one frame.
    ///
    /// # Errors
    /// [`DriverFailure`]; the run is over then.
    pub async fn push_bytes(
        &mut self,
        data: &[u8],
        events: &mut Vec<ChatEvent>,
    ) -> Result<(), Failed<DriverFailure>> {
        let data_end = u32::try_from(data.len())
            .map_err(|_| self.version.failed(PluginError::TooLarge.into()))?;
        let frame = wit::Frame {
            name_start: 0,
            name_end: 0,
            data_start: 0,
            data_end,
        };
        self.push_ranges(data, &[frame], events).await
    }

    /// As [`DriverRun::push`], for lines: one frame for each that is not blank, without its end.
    ///
    /// # Errors
    /// [`DriverFailure`]; the run is over then.
    pub async fn push_lines(
        &mut self,
        lines: &[u8],
        events: &mut Vec<ChatEvent>,
    ) -> Result<(), Failed<DriverFailure>> {
        let frames = frames_of(lines).map_err(|error| self.version.failed(error.into()))?;
        if frames.is_empty() {
            return Ok(());
        }
        self.push_ranges(lines, &frames, events).await
    }

    async fn push_ranges(
        &mut self,
        data: &[u8],
        frames: &[wit::Frame],
        events: &mut Vec<ChatEvent>,
    ) -> Result<(), Failed<DriverFailure>> {
        let version = Arc::clone(&self.version);
        let calling = self.push_call(data, frames, events);
        version.measured(Function::Push, calling).await
    }

    async fn push_call(
        &mut self,
        data: &[u8],
        frames: &[wit::Frame],
        events: &mut Vec<ChatEvent>,
    ) -> Result<(), DriverFailure> {
        let mut live = self.live.take().ok_or(PluginError::Ended)?;
        let Live {
            cell,
            guest,
            resource,
        } = live.as_mut();
        let (store, allowance) = cell.serving(data.len());
        let run = guest.run();
        let call = run.call_push(store, *resource, data, frames);
        let answer = allowance.serve(call).await?;
        self.order.take(answer.map_err(fault)?, events)?;
        self.live = Some(live);
        Ok(())
    }

    /// Whether the last event (`Finished`) has come; the rest of the body is of no interest.
    pub fn finished(&self) -> bool {
        self.order.finished()
    }

    /// Ends the run; after it `events` ends with `Finished`, or this is an error.
    ///
    /// # Errors
    /// [`DriverFailure`], among them a stream that ended early.
    pub async fn close(
        mut self,
        end: StreamEnd,
        events: &mut Vec<ChatEvent>,
    ) -> Result<(), Failed<DriverFailure>> {
        let version = Arc::clone(&self.version);
        let calling = self.close_call(end, events);
        version.measured(Function::Close, calling).await
    }

    async fn close_call(
        &mut self,
        end: StreamEnd,
        events: &mut Vec<ChatEvent>,
    ) -> Result<(), DriverFailure> {
        let mut live = self.live.take().ok_or(PluginError::Ended)?;
        let how = match end {
            StreamEnd::Complete => wit::End::Complete,
            StreamEnd::Truncated => wit::End::Truncated,
            StreamEnd::TimedOut => wit::End::TimedOut,
            StreamEnd::Reset => wit::End::Reset,
        };
        let Live {
            cell,
            guest,
            resource,
        } = live.as_mut();
        let (store, allowance) = cell.serving(0);
        let run = guest.run();
        let call = run.call_close(store, *resource, how);
        let answer = allowance.serve(call).await?;
        self.order.take(answer, events)?;
        if self.order.finished() {
            Ok(())
        } else {
            Err(PluginError::Contract("a run without a last event").into())
        }
    }
}

/// All frames in one buffer, and where each is.
fn laid_out(frames: &[Frame]) -> Result<(Vec<u8>, Vec<wit::Frame>), PluginError> {
    let bytes = frames
        .iter()
        .map(|frame| frame.name.len() + frame.data.len())
        .sum();
    let mut buffer = Vec::with_capacity(bytes);
    let mut ranges = Vec::with_capacity(frames.len());
    for Frame { name, data } in frames {
        let (name_start, name_end) = append(&mut buffer, name.as_bytes())?;
        let (data_start, data_end) = append(&mut buffer, data.as_bytes())?;
        ranges.push(wit::Frame {
            name_start,
            name_end,
            data_start,
            data_end,
        });
    }
    Ok((buffer, ranges))
}

/// The lines that are not blank, each without its line feed and the carriage return before that.
fn frames_of(lines: &[u8]) -> Result<Vec<wit::Frame>, PluginError> {
    let mut frames = Vec::new();
    let mut start = 0;
    for line in lines.split_inclusive(|byte| *byte == b'\n') {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        if !text.trim_ascii().is_empty() {
            frames.push(wit::Frame {
                name_start: 0,
                name_end: 0,
                data_start: offset(start)?,
                data_end: offset(start + text.len())?,
            });
        }
        start += line.len();
    }
    Ok(frames)
}

fn offset(bytes: usize) -> Result<u32, PluginError> {
    u32::try_from(bytes).map_err(|_| PluginError::TooLarge)
}

fn append(buffer: &mut Vec<u8>, bytes: &[u8]) -> Result<(u32, u32), PluginError> {
    let start = offset(buffer.len())?;
    buffer.extend_from_slice(bytes);
    Ok((start, offset(buffer.len())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_that_says_something_is_a_frame_of_one_push() {
        let cut = |lines: &str| {
            let frames = frames_of(lines.as_bytes()).ok()?;
            let texts = frames.iter().map(|frame| {
                let range = frame.data_start as usize..frame.data_end as usize;
                lines.get(range).map(str::to_owned)
            });
            texts.collect::<Option<Vec<_>>>()
        };
        let expected = Some(vec!["{\"a\":1}".to_owned(), " {}".to_owned()]);
        for lines in [
            "{\"a\":1}\n {}\n",
            "{\"a\":1}\r\n {}\r\n",
            "\n{\"a\":1}\n\n\r\n \n {}",
        ] {
            assert_eq!(cut(lines), expected, "{lines:?}");
        }
        assert_eq!(cut("\r\n\n \r\n\r"), Some(Vec::new()));
    }
}
