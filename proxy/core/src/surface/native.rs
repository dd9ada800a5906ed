//! Native surface.
