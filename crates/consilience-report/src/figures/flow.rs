//! Flows: from the clusters of one clustering to those of the next, through any number of them.

use consilience::pipeline::Timeline;
use consilience::words::{counted, percent};

use super::picture::{Colour, Item, Picture, Segment};
use super::theme::{SOFT, TICK, WORD, of_number};
use super::{Body, Figure, Frame, colour};
use crate::data::{Flow, Report};

/// A cluster at one time.
pub(super) struct Stratum {
    pub(super) name: String,
    pub(super) colour: Colour,
    pub(super) size: f64,
}

/// What goes from a cluster at one time to one at the next.
pub(super) struct Ribbon {
    /// The time it starts at.
    pub(super) time: usize,
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) size: f64,
    pub(super) colour: Colour,
}

/// An alluvial diagram: strata at each time, ribbons between them.
pub(super) struct Alluvial {
    pub(super) times: Vec<String>,
    pub(super) strata: Vec<Vec<Stratum>>,
    pub(super) ribbons: Vec<Ribbon>,
}

impl Alluvial {
    /// Draws it this wide; how tall it is.
    pub(super) fn draw(&self, picture: &mut Picture, width: f64) -> f64 {
        let (bar, top) = (9.0, 16.0);
        let last = self.times.len() - 1;
        let most = self.strata.iter().map(Vec::len).max().unwrap_or(1).max(1);
        let height = (most as f64 * 17.0).clamp(190.0, 560.0);
        // Gaps take half of the height at most, however many clusters there are.
        let gap = (height / 2.0 / most as f64).min(5.0);
        let total = |strata: &Vec<Stratum>| strata.iter().map(|s| s.size).sum::<f64>();
        let largest = self.strata.iter().map(total).fold(1e-300, f64::max);
        let scale = (height - gap * (most - 1) as f64) / largest;
        let longest = |time: usize| {
            self.strata[time].iter().map(|s| WORD.width(&s.name)).fold(0.0, f64::max).min(96.0)
        };
        let (left, right) = (longest(0) + 8.0, longest(last) + 8.0);
        let step = (width - left - right - bar) / last.max(1) as f64;
        let x_of = |time: usize| left + step * time as f64;
        let tops: Vec<Vec<f64>> = self
            .strata
            .iter()
            .map(|strata| {
                let used = total(strata) * scale + gap * (strata.len().max(1) - 1) as f64;
                let mut y = top + ((height - used) / 2.0).max(0.0);
                let below = |s: &Stratum| {
                    let own = y;
                    y += s.size * scale + gap;
                    own
                };
                strata.iter().map(below).collect()
            })
            .collect();
        // Ribbons leave and arrive in the order of where they go to and come from.
        let (mut out, mut into) = (tops.clone(), tops.clone());
        let mut order: Vec<&Ribbon> = self.ribbons.iter().collect();
        order.sort_by_key(|r| (r.time, r.from, r.to));
        let leave: Vec<f64> = order
            .iter()
            .map(|r| {
                let y = out[r.time][r.from];
                out[r.time][r.from] += r.size * scale;
                y
            })
            .collect();
        let mut places: Vec<usize> = (0..order.len()).collect();
        places.sort_by_key(|&i| (order[i].time, order[i].to, order[i].from));
        for i in places {
            let (r, y0) = (order[i], leave[i]);
            let y1 = into[r.time + 1][r.to];
            into[r.time + 1][r.to] += r.size * scale;
            let (x0, x1) = (x_of(r.time) + bar, x_of(r.time + 1));
            let (middle, tall) = (f64::midpoint(x0, x1), r.size * scale);
            picture.items.push(Item::Path {
                segments: vec![
                    Segment::Move(x0, y0),
                    Segment::Curve([middle, y0], [middle, y1], [x1, y1]),
                    Segment::Line(x1, y1 + tall),
                    Segment::Curve([middle, y1 + tall], [middle, y0 + tall], [x0, y0 + tall]),
                    Segment::Close,
                ],
                fill: Some((r.colour, 0.45)),
                stroke: None,
            });
        }
        for (time, strata) in self.strata.iter().enumerate() {
            let x = x_of(time);
            let word = WORD.bold();
            let (at, word) = match time {
                0 => (0.0, word),
                _ if time == last => (width, word.end()),
                _ => (x + bar / 2.0, word.middle()),
            };
            let room = if time == 0 || time == last { left.max(step * 0.45) } else { step * 0.95 };
            picture.text([at, 8.0], word.fit(&self.times[time], room), word);
            // Names do not overlap: the smaller of two neighbours stays unnamed.
            let mut free = f64::NEG_INFINITY;
            for (i, (s, &y)) in strata.iter().zip(&tops[time]).enumerate() {
                let tall = (s.size * scale).max(0.5);
                picture.rect([x, y, bar, tall], s.colour, 1.0);
                let middle = y + tall / 2.0 + 3.0;
                let next = strata.get(i + 1).map_or(f64::INFINITY, |next| {
                    tops[time][i + 1] + next.size * scale / 2.0 + 3.0
                });
                let crowded = next - middle < 8.0 && strata[i + 1].size > s.size;
                if middle - 8.0 < free || crowded {
                    continue;
                }
                free = middle;
                if time == 0 {
                    let name = WORD.fit(&s.name, left - 6.0);
                    picture.text([left - 4.0, middle], name, WORD.end());
                } else if time == last {
                    let name = WORD.fit(&s.name, right - 6.0);
                    picture.text([x + bar + 4.0, middle], name, WORD);
                } else if tall >= 7.0 {
                    let name = TICK.fit(&s.name, step * 0.4);
                    picture.text([x + bar + 3.0, middle - 0.3], name, TICK);
                }
            }
        }
        top + height
    }
}

/// From the clusters of a member to those of the consensus.
pub(super) fn member(report: &Report, flow: &Flow, width: f64) -> Body {
    let sum = |of: usize, place: fn(&(usize, usize, f64)) -> usize| -> f64 {
        flow.cells.iter().filter(|cell| place(cell) == of).map(|cell| cell.2).sum()
    };
    // Clusters of the member stand in the order of where most of them goes.
    let main = |i: usize| {
        let own = flow.cells.iter().filter(|cell| cell.0 == i);
        own.max_by(|a, b| a.2.total_cmp(&b.2).then(b.1.cmp(&a.1))).map_or(usize::MAX, |c| c.1)
    };
    let left: Vec<f64> = (0..flow.clusters.len()).map(|i| sum(i, |cell| cell.0)).collect();
    let mut order: Vec<usize> = (0..left.len()).filter(|&i| left[i] > 0.0).collect();
    order.sort_by(|&a, &b| main(a).cmp(&main(b)).then(left[b].total_cmp(&left[a])));
    let right: Vec<f64> = (0..report.clusters.len()).map(|j| sum(j, |cell| cell.1)).collect();
    let targets: Vec<usize> = (0..right.len()).filter(|&j| right[j] > 0.0).collect();
    let place = |list: &[usize], of: usize| list.iter().position(|&x| x == of);
    let ribbons = flow.cells.iter().filter_map(|&(i, j, size)| {
        let (from, to) = (place(&order, i)?, place(&targets, j)?);
        Some(Ribbon { time: 0, from, to, size, colour: colour(report, j) })
    });
    let alluvial = Alluvial {
        times: vec![flow.member.clone(), "consensus".to_owned()],
        ribbons: ribbons.collect(),
        strata: vec![
            order
                .iter()
                .map(|&i| Stratum { name: flow.clusters[i].clone(), colour: SOFT, size: left[i] })
                .collect(),
            targets
                .iter()
                .map(|&j| Stratum {
                    name: report.clusters[j].name.clone(),
                    colour: colour(report, j),
                    size: right[j],
                })
                .collect(),
        ],
    };
    let mut picture = Picture::default();
    let height = alluvial.draw(&mut picture, width);
    Body {
        picture,
        height,
        legend: Vec::new(),
        caption: format!(
            "From the clusters of {} (left) to those of the consensus (right); the wider a band, the \
             more objects. Their agreement (NMI) is {:.2}.",
            flow.member,
            f64::from(flow.agreement) / 1000.0
        ),
    }
}

/// The flow of a sequence of clusterings, as a figure.
#[must_use]
pub fn timeline(found: &Timeline, frame: &Frame) -> Figure {
    let width = frame.width - 2.0 * super::MARGIN;
    let shade = |id: usize| match found.ids[id].parse::<u32>() {
        Ok(number) => of_number(number),
        Err(_) => of_number(id as u32),
    };
    let mut strata: Vec<Vec<Stratum>> = found.times.iter().map(|_| Vec::new()).collect();
    let mut place = vec![vec![usize::MAX; found.ids.len()]; found.times.len()];
    for cluster in &found.clusters {
        let id = found.ids.iter().position(|id| *id == cluster.cluster).unwrap_or(0);
        place[cluster.time][id] = strata[cluster.time].len();
        strata[cluster.time].push(Stratum {
            name: cluster.cluster.clone(),
            colour: shade(id),
            size: cluster.objects as f64,
        });
    }
    let next = found.passages.iter().filter(|p| p.from_time + 1 == p.to_time);
    let ribbons = next.map(|p| Ribbon {
        time: p.from_time,
        from: place[p.from_time][p.from],
        to: place[p.to_time][p.to],
        size: p.objects as f64,
        // Those who stay have the colour of their cluster, those who move that of where they were.
        colour: shade(p.from),
    });
    let ribbons = ribbons.collect();
    let steps = found.steps().count();
    let seen: usize = found.passages.iter().map(|p| p.objects).sum();
    let mut picture = Picture::default();
    let height = Alluvial { times: found.times.clone(), strata, ribbons }.draw(&mut picture, width);
    let moved = if seen == 0 {
        "no object is in two of them".to_owned()
    } else {
        let share = percent(steps as f64 / seen as f64);
        format!("{} ({share} of those seen before)", counted(steps, "move"))
    };
    let body = Body {
        picture,
        height,
        legend: Vec::new(),
        caption: format!(
            "Clusters through {}: a bar is a cluster, its height the number of its objects; a band is \
             objects that go from one time to the next, in the colour of the cluster that they come \
             from; where a bar is taller than its bands, objects come or go. {} of {}, {moved}.",
            counted(found.times.len(), "time"),
            counted(found.ids.len(), "cluster"),
            counted(found.labels.first().map_or(0, Vec::len), "object"),
        ),
    };
    frame.framed("Clusters through time", body)
}
