// Package recorded replays throughput and memory of real cards, so that a search
// can be tried on them without the cards.
//
// surfaces.jsonl holds the figures, collected from public sources; each line is one
// surface, of one card, workload and software, and names its sources. Left out of
// what the sources have are records without a micro-batch or, where they ran,
// without a score. A precision that a source does not state is "unstated".
package recorded
