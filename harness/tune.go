package harness

import (
	"context"
	"errors"
	"fmt"
	"math"

	"autotune/tuner"
)

// tune searches, and writes the recommendation.
func (s *session) tune(ctx context.Context, plan Plan) error {
	search, err := tuner.New(plan.Space, plan.Goal)
	if err != nil {
		return &UsageError{err.Error()}
	}
	s.resumeWith(search)
	if err := s.trials(ctx, search); err != nil {
		return err
	}
	answer, err := search.Recommend()
	switch {
	case errors.Is(err, tuner.ErrNothingFits):
		return s.nothingFits()
	case err != nil:
		return s.noAnswer(err)
	}
	record := s.recommendation(answer)
	if err := s.journal.append(record); err != nil {
		return err
	}
	s.run.Recommendation = &record
	return nil
}

// nothingFits is the error of a run in which every size failed for want of memory.
func (s *session) nothingFits() error {
	least, peak := TrialRecord{}, int64(0)
	for _, t := range s.run.Trials {
		if p := peakOf(s.header, t); p > 0 && (peak == 0 || p < peak) {
			least, peak = t, p
		}
	}
	seen := ""
	if peak > 0 {
		seen = fmt.Sprintf("; the smallest peak seen was %s (trial %d, %s)", FormatBytes(peak), least.Number, least.Config)
	}
	if s.header.LimitBytes == nil {
		return exitf(ErrNothingFits, "nothing fits%s: choose a smaller model, or a machine with more memory", seen)
	}
	limit := FormatBytes(*s.header.LimitBytes)
	if s.header.Headroom > 0 {
		limit += fmt.Sprintf(" with a headroom of %s", FormatBytes(s.header.Headroom))
	}
	return exitf(ErrNothingFits, "nothing fits in the memory limit of %s%s: raise --memory-limit, or choose a smaller model", limit, seen)
}

// recommendation is the tuner's answer as a record.
func (s *session) recommendation(r tuner.Recommendation) Recommendation {
	notes := append([]string{}, r.Notes...)
	for _, note := range []string{learningRateNote(s.header, r.Samples()), batchNormNote(s.header, r.Config)} {
		if note != "" {
			notes = append(notes, note)
		}
	}
	return Recommendation{
		V: JournalVersion, Record: KindRecommendation,
		Model: s.header.Model, Engine: s.header.Engine, Device: s.header.Device,
		Precision: r.Precision, MicroBatch: r.MicroBatch, Accumulation: r.Accumulation,
		GlobalBatch: r.Samples(), Knobs: r.Knobs,
		Optimizer: s.header.Settings.Optimizer, Objective: s.header.Settings.Objective,
		Throughput: r.Throughput, PeakBytes: r.PeakBytes,
		LimitOn: s.header.LimitOn, LimitBytes: s.header.LimitBytes, Headroom: r.HeadroomBytes,
		Trial: r.Trial, Trials: len(s.run.Trials), WallSeconds: s.run.WallSeconds(),
		Soaked: r.Soaked, Reason: r.Reason, Notes: notes, Largest: append([]tuner.Border{}, r.Largest...),
	}
}

// learningRateNote says that the learning rate follows a global batch that is
// not the recipe's; empty: it is. The linear rule for SGD is that of Goyal et al.
// 2017 (https://arxiv.org/abs/1706.02677), which comes with a gradual warm-up;
// the square root for Adam's kind is that of Malladi et al. 2022
// (https://arxiv.org/abs/2205.10287).
func learningRateNote(h Header, batch int) string {
	recipe := h.Facts.RecipeBatch
	if recipe < 1 || batch == recipe {
		return ""
	}
	ratio, rule := float64(batch)/float64(recipe), "in proportion (Goyal et al. 2017, with a gradual warm-up)"
	if o := h.Settings.Optimizer; o == "adam" || o == "adamw" {
		ratio, rule = math.Sqrt(ratio), "with the square root (Malladi et al. 2022)"
	}
	return fmt.Sprintf("The global batch is %d and the recipe's is %d: the learning rate has to follow it; a usual first try for %s scales it %s, here times %.3g, and is then checked by training.",
		batch, recipe, h.Settings.Optimizer, rule, ratio)
}

// batchNormNote says that accumulation does not train a model with batch
// normalisation as the whole batch would; empty: it does.
func batchNormNote(h Header, c tuner.Config) string {
	if !h.Facts.BatchNorm || c.Accumulation == 1 {
		return ""
	}
	return fmt.Sprintf("The model has batch normalisation, which sees one micro-batch of %d at a time and not the global batch of %d: the smaller the micro-batch, the more training differs. --batch bounds it from below.",
		c.MicroBatch, c.Samples())
}
