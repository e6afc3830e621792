//! What is asked for, checked before any data are read, and the way from there to the answer.

use crate::consensus::{
    ChoosesK, Consensus, ConsensusMethod, METHODS, MethodInfo, Offers, Settings, Start, Wish, auto,
    auto_by_wish, combine_from, combine_on,
};
use crate::ensemble::{Majority, Member};
use crate::error::{Asked, Error, Result};
use crate::generate::Data;
use crate::graph::Edges;
use crate::judge::{Judgement, KCriteria, Known, Number, voting_convergence};
use crate::pipeline::answer::{Answer, Scores, Seconds};
use crate::pipeline::choice::{Choice, Clusters, Methods};
use crate::pipeline::input::{Input, Members};
use crate::pipeline::leaderboard::leaderboard;
use crate::pipeline::looks::{warn_of_columns, warn_of_members};
use crate::pipeline::pool::{Narrowed, Pool};
use crate::pipeline::recipe::{Look, Recipe, number_in};
use crate::run::{Clock, Run};

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The method, or several.
    pub methods: Methods,
    /// The number of clusters.
    pub clusters: Clusters,
    /// Parameters of the method.
    pub settings: Settings,
    /// What the answer must have besides labels.
    pub wanted: Offers,
    /// Whether the method is to start from a given clustering.
    pub start: bool,
    /// Whether there are edges of a network of the objects.
    pub edges: bool,
}

impl Request {
    /// Checks everything that can be checked without data.
    ///
    /// # Errors
    ///
    /// If a parameter is out of range, or the method cannot do what is asked of it.
    pub fn check(self) -> Result<Checked> {
        let Request { mut methods, clusters, settings, wanted, start, edges } = self;
        if let Some(range) = clusters.range().filter(|r| r.is_empty() || *r.start() == 0) {
            let got = format!("{}..{}", range.start(), range.end());
            return Err(Error::parameter("k", "a range from at least 1 upwards", got));
        }
        let mut reason = None;
        if matches!(methods, Methods::Auto) {
            let soft = wanted.membership || wanted.correspondences;
            let tree = wanted.dendrogram;
            let found = auto_by_wish(Wish { soft, start, tree, edges });
            if let Some(found) = found {
                (methods, reason) = (Methods::One(found.info), Some(found.reason));
            }
        }
        let asked = asked(&settings, wanted, start, edges);
        let mut built = None;
        match &methods {
            Methods::One(info) => {
                if info.chooses_k == ChoosesK::Always && clusters != Clusters::Auto {
                    return Err(info.is_not_told());
                }
                if start && !info.takes_start {
                    return Err(beyond(info, Asked::Start, |m| m.takes_start));
                }
                if edges && !info.edges {
                    return Err(beyond(info, Asked::Edges, |m| m.edges));
                }
                if info.edges && !edges {
                    return Err(Error::NeedsEdges { method: info.name });
                }
                check_offers(info, wanted)?;
                let k = clusters.known();
                // A number that is still to be found may be any.
                let any = (info.chooses_k == ChoosesK::Never && k.is_none()).then_some(1);
                let method = info.with(k.or(any), &settings)?;
                // Without a range, what is known now is all that there is to know.
                built = (any.is_none() && clusters.range().is_none()).then_some(method);
            }
            Methods::Several(several) => {
                let edges = several.iter().any(|info| info.edges).then_some(Asked::Edges);
                if let Some(asked) = asked.or(edges) {
                    return Err(Error::OneMethodOnly { asked });
                }
            }
            Methods::Auto => {}
        }
        Ok(Checked { methods, clusters, settings, reason, built })
    }
}

/// The first thing asked for that only one method can give.
fn asked(settings: &Settings, wanted: Offers, start: bool, edges: bool) -> Option<Asked> {
    let all = [
        (settings.names().next().is_some(), Asked::Settings),
        (start, Asked::Start),
        (wanted.membership, Asked::Membership),
        (wanted.correspondences, Asked::Correspondences),
        (wanted.dendrogram, Asked::Dendrogram),
        (edges, Asked::Edges),
    ];
    all.into_iter().find(|(is, _)| *is).map(|(_, asked)| asked)
}

/// The method cannot do what is asked; others can.
fn beyond(info: &MethodInfo, asked: Asked, can: impl Fn(&MethodInfo) -> bool) -> Error {
    let able = METHODS.iter().filter(|info| can(info)).map(|info| info.name);
    Error::Beyond { method: info.name, asked, able: able.collect::<Vec<_>>().join(", ") }
}

/// Refuses a method whose answer has not what is wanted.
fn check_offers(info: &MethodInfo, wanted: Offers) -> Result<()> {
    type Has = fn(&Offers) -> bool;
    let parts: [(Asked, Has); 3] = [
        (Asked::Membership, |offers| offers.membership),
        (Asked::Correspondences, |offers| offers.correspondences),
        (Asked::Dendrogram, |offers| offers.dendrogram),
    ];
    for (asked, has) in parts.into_iter().filter(|(_, has)| has(&wanted)) {
        if !has(&info.offers) {
            return Err(beyond(info, asked, |other| has(&other.offers)));
        }
    }
    Ok(())
}

/// A checked request.
pub struct Checked {
    methods: Methods,
    clusters: Clusters,
    settings: Settings,
    /// Why `auto` took the method, if what is asked for decided that.
    reason: Option<&'static str>,
    /// The method, if it and the number of clusters are known without data.
    built: Option<Box<dyn ConsensusMethod>>,
}

impl Checked {
    /// Whether the number of clusters is asked for.
    pub fn k_given(&self) -> bool {
        self.clusters.exactly().is_some()
    }

    /// Whether several methods are run side by side.
    pub fn is_several(&self) -> bool {
        matches!(self.methods, Methods::Several(_))
    }

    /// The method, if it is known without data.
    pub fn info(&self) -> Option<&'static MethodInfo> {
        match &self.methods {
            Methods::One(info) => Some(info),
            _ => None,
        }
    }

    /// From members to the answer, each step once.
    ///
    /// # Errors
    ///
    /// If the data cannot be used, if memory does not suffice, if the method refuses or fails, or if
    /// the run is cancelled.
    pub fn answer(&self, input: Input<'_>, run: &Run) -> Result<Answer> {
        let Input { members, keep, start, edges, earlier, truth, convergence, judge } = input;
        let clock = Clock::start();
        let mut made = None;
        let mut pool = match members {
            Members::Features { data, names, weights, recipe, store } => {
                warn_of_columns(data, names, run)?;
                let tell = self.looks_for_number();
                // A method that finds its own number is not measured by another.
                let look = tell || (judge && self.k_given());
                let look = look.then_some(Look { range: self.clusters.range(), tell });
                let (mut ensemble, making) = recipe.make(data, look, store, run)?;
                if let Some(weights) = weights {
                    ensemble = ensemble.with_weights(weights.to_vec())?;
                }
                made = Some((making, recipe, data, names));
                Pool::of(ensemble)
            }
            Members::Ensemble(ensemble) => Pool::of(ensemble),
            Members::Merged { profiles, tuples, weights } => {
                Pool::merged(profiles, tuples, weights)
            }
        };
        let generate = clock.seconds();
        let number = made.as_ref().and_then(|(making, ..)| making.number.clone());
        let mut answer = if let Methods::Several(methods) = &self.methods {
            self.compare(methods, pool, number, keep, run)?
        } else {
            let choice = self.choose(&mut pool, number, run)?;
            let narrowed = pool.narrowed(choice.info, keep, run)?;
            self.fit(choice, narrowed, start, edges, run)?
        };
        answer.seconds.generate = generate;
        if made.is_none() {
            warn_of_members(&answer.profiles, run);
        }
        if let Some((making, recipe, ..)) = &made {
            answer.reused = making.reused;
            let n = answer.profiles.n_objects();
            let told = Recipe { generator: making.generator.clone(), ..(*recipe).clone() };
            answer.members.made = Some(told.record(n, &making.seats));
        }
        if let Some(earlier) = earlier {
            answer = answer.following(earlier)?;
        }
        if convergence && answer.choice.info.name == "voting" {
            let threshold = self.settings.text("threshold").map(str::parse).transpose()?;
            let threshold = threshold.unwrap_or(Majority::HALF);
            let classes = truth.map(Member::hardened);
            let (profiles, weights) = (&answer.profiles, answer.weights());
            let table = run.install(|| {
                voting_convergence(profiles, weights, threshold, classes.as_ref(), run)
            })?;
            answer.consensus.diagnostics.push("convergence", table);
        }
        answer.scores = truth.map(|truth| Scores::new(&answer, truth)).transpose()?;
        if judge {
            if let Some((making, _, data, names)) = &made {
                answer.scatter = making.scatter(*data, names, run)?;
            }
            let criteria = answer.choice.criteria.as_ref().filter(|_| {
                // Only those of all numbers of clusters and of the same profiles.
                let whole = answer.consensus.parted.is_none() && answer.profiles.is_hard();
                self.clusters == Clusters::Auto && whole
            });
            let (asked, number) = (self.clusters.exactly(), answer.choice.number.as_ref());
            let known = Known { asked, number, criteria };
            let judged = Judgement::new(&answer.partition(), known, run)?;
            answer.judgement = Some(judged);
        }
        Ok(answer)
    }

    /// The number of clusters that `data` as they are speak for, where it is to be found and can be.
    ///
    /// # Errors
    ///
    /// If the data cannot be used, or the run is cancelled.
    pub fn number_in(&self, data: Data<'_>, run: &Run) -> Result<Option<Number>> {
        if !self.looks_for_number() {
            return Ok(None);
        }
        number_in(data, None, self.clusters.range(), run)
    }

    /// Where the number of clusters that members are made for is looked for, if it is: two requests that
    /// differ here have different members.
    pub fn looked_for(&self) -> Option<String> {
        self.looks_for_number().then(|| format!("{:?}", self.clusters))
    }

    /// Whether the number of clusters is to be found, and not by the method.
    fn looks_for_number(&self) -> bool {
        self.built.is_none() && self.clusters.known().is_none()
    }

    /// The number of clusters that is asked for or recommended, and what the members say of it unless
    /// features do.
    fn number(
        &self,
        pool: &mut Pool,
        number: Option<&Number>,
        run: &Run,
    ) -> Result<(usize, Option<KCriteria>)> {
        if let Some(k) = self.clusters.known().or(number.map(|number| number.k)) {
            return Ok((k, None));
        }
        let criteria = KCriteria::new(pool.profiles(true, run)?, self.clusters.range(), run)?;
        Ok((criteria.recommended, Some(criteria)))
    }

    /// The method and the number of clusters for these members.
    fn choose(&self, pool: &mut Pool, number: Option<Number>, run: &Run) -> Result<Choice> {
        if let (Some(info), Some(method)) = (self.info(), &self.built) {
            let (reason, asked, k) = (self.reason, self.clusters.exactly(), method.k());
            return Ok(Choice { info, reason, asked, k, number, criteria: None });
        }
        let (k, criteria) = self.number(pool, number.as_ref(), run)?;
        let (info, reason) = if let Some(info) = self.info() {
            (info, self.reason)
        } else {
            let found = auto(pool.profiles(false, run)?, k, run);
            (found.info, Some(found.reason))
        };
        let asked = self.clusters.exactly();
        Ok(Choice { info, reason, asked, k: Some(k), number, criteria })
    }

    /// Runs the method that was chosen.
    fn fit(
        &self,
        choice: Choice,
        narrowed: Narrowed,
        start: Option<&[Option<u32>]>,
        edges: Option<&Edges>,
        run: &Run,
    ) -> Result<Answer> {
        let clock = Clock::start();
        let start = start.map(|labels| Start::new(labels).weights(narrowed.weights()));
        let built;
        let method = if let Some(method) = &self.built {
            method
        } else {
            built = choice.info.with(choice.k, &self.settings)?;
            &built
        };
        let consensus = match edges.filter(|_| choice.info.edges) {
            Some(edges) => combine_on(&narrowed.profiles, edges, method.as_ref(), run)?,
            None => combine_from(&narrowed.profiles, method.as_ref(), start, run)?,
        };
        let anmi = run.install(|| consensus.anmi(&narrowed.profiles, narrowed.weights()));
        let seconds = clock.seconds();
        self.answered(choice, narrowed, (consensus, anmi), seconds, run)
    }

    /// Runs several methods; the answer is that of the one that leads.
    fn compare(
        &self,
        methods: &[&'static MethodInfo],
        mut pool: Pool,
        number: Option<Number>,
        keep: bool,
        run: &Run,
    ) -> Result<Answer> {
        let (k, criteria) = self.number(&mut pool, number.as_ref(), run)?;
        let clock = Clock::start();
        let merged = pool.seconds;
        let (board, best) = leaderboard(&mut pool, methods, k, run)?;
        let seconds = clock.seconds() - (pool.seconds - merged);
        let Some(best) = best else {
            let first = board.standings.iter().find_map(|row| row.problem.clone());
            return Err(Error::NoAnswer { first: first.unwrap_or_default() });
        };
        let reason = "its answer agrees most with the clusterings among those with as many clusters \
                      as asked for";
        let (reason, asked) = (Some(reason), self.clusters.exactly());
        let choice = Choice { info: best.info, reason, asked, k: Some(k), number, criteria };
        let narrowed = pool.narrowed(best.info, keep, run)?;
        let answer = self.answered(choice, narrowed, (best.consensus, best.anmi), seconds, run)?;
        Ok(Answer { board: Some(board), ..answer })
    }

    fn answered(
        &self,
        choice: Choice,
        narrowed: Narrowed,
        (consensus, anmi): (Consensus, f64),
        seconds: f64,
        run: &Run,
    ) -> Result<Answer> {
        let Narrowed { profiles, clusters, ensemble, weights, members, seconds: compress } =
            narrowed;
        let seconds = Seconds { generate: 0.0, compress, consensus: seconds };
        let settings = self.settings.clone();
        let base = Answer::new(choice, settings, profiles, consensus, anmi);
        Answer { ensemble, weights, clusters, members, seconds, ..base }.weighed(run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consensus::method;
    use crate::ensemble::Ensemble;
    use crate::pipeline::Record;
    use crate::testing::hard_ensemble;

    fn ensemble() -> Ensemble {
        hard_ensemble(&[[0, 0, 1, 1, 2, 2]; 3])
    }

    fn answer(methods: &str, clusters: Clusters) -> Result<Answer> {
        let methods = Methods::named(methods)?;
        let request = Request { methods, clusters, ..Request::default() };
        request.check()?.answer(Input::ensemble(ensemble()), &Run::new(0))
    }

    #[test]
    fn numbers_are_given_looked_for_or_left_to_the_method() {
        let k = |methods: &str, clusters| answer(methods, clusters).unwrap().choice.k;
        assert_eq!(k("scec", Clusters::Exactly(2)), Some(2));
        let found = answer("scec", Clusters::Auto).unwrap();
        assert_eq!(found.choice.k, Some(3));
        assert_eq!(found.choice.criteria.map(|criteria| criteria.recommended), Some(3));
        let kept = answer("scec", Clusters::Kept(2)).unwrap().choice;
        assert_eq!((kept.k, kept.asked, kept.criteria.is_none()), (Some(2), None, true));
        assert_eq!(k("auto", Clusters::Between(1..=2)), Some(2));
        assert_eq!(k("sa", Clusters::Auto), None);
        assert_eq!(k("sa", Clusters::Between(2..=3)), Some(3));
        assert_eq!(k("voting", Clusters::Auto), None);
        assert!(answer("scec", Clusters::Between(0..=2)).is_err());
    }

    #[test]
    fn what_a_method_does_not_do_is_refused_before_data_are_read() {
        let refused = |request: Request| request.check().err();
        let voting = || Methods::One(method("voting").unwrap());
        let cases = [
            (Asked::Clusters, Request { clusters: Clusters::Exactly(2), ..Request::default() }),
            (Asked::Start, Request { start: true, ..Request::default() }),
            (
                Asked::Membership,
                Request {
                    wanted: Offers { membership: true, ..Offers::default() },
                    ..Request::default()
                },
            ),
        ];
        for (expected, request) in cases {
            match refused(Request { methods: voting(), ..request }) {
                Some(Error::Beyond { method: "voting", asked, able }) => {
                    assert_eq!(asked, expected);
                    let like = if asked == Asked::Clusters { "lwea" } else { "scec" };
                    assert!(able.contains(like), "{able}");
                }
                other => panic!("{other:?}"),
            }
        }
        let several = Methods::named("scec,voting").unwrap();
        let settings = Settings::from_iter([("alpha", "50")]);
        let many = Request { methods: several, settings, ..Request::default() };
        assert_eq!(refused(many), Some(Error::OneMethodOnly { asked: Asked::Settings }));
        assert!(Methods::named("scec,scec").is_err());
    }

    #[test]
    fn several_methods_have_the_answer_of_the_one_that_leads() {
        let found = answer("voting,scec", Clusters::Exactly(3)).unwrap();
        let board = found.board.as_ref().unwrap();
        assert_eq!(board.standings.len(), 2);
        assert_eq!(found.consensus.k, 3);
        assert_eq!(found.labels(), board.standings[0].labels.clone().unwrap());
    }

    #[test]
    fn a_record_is_read_back_as_it_was_written() {
        let methods = Methods::named("auto").unwrap();
        let request = Request { methods, ..Request::default() };
        let input = Input { judge: true, ..Input::ensemble(ensemble()) };
        let run = Run::new(7);
        let record = request.check().unwrap().answer(input, &run).unwrap().record(&run);
        let text = serde_json::to_string(&record).unwrap();
        assert_eq!(Record::parse(&text), Some(record));
        assert_eq!(Record::parse("{}"), None);
        assert_eq!(Record::parse("no JSON"), None);
    }
}
