package harness

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"autotune/harness/protocol"
	"autotune/tuner"
)

// forecast asks the worker what memory a set needs and writes the answer down. A
// prediction that failed is an answer too; an error ends the run.
func (s *session) forecast(ctx context.Context, c tuner.Config) (tuner.Forecast, error) {
	begun := time.Now()
	predicted, failed, err := s.predictOnWorker(ctx, c)
	switch {
	case err != nil:
		return tuner.Forecast{}, err
	case failed != nil && failed.Type == FailureInterrupted:
		return tuner.Forecast{}, s.interrupted()
	}
	record := ForecastRecord{
		V: JournalVersion, Record: KindForecast, WallSeconds: time.Since(begun).Seconds(), Failure: failed,
		Forecast: tuner.Forecast{Set: c.Set(), Accumulation: c.Accumulation},
	}
	if failed == nil {
		record.Counter, record.RoomBytes = predicted.Counter, predicted.RoomBytes
		for _, l := range predicted.Lines {
			record.Lines = append(record.Lines, tuner.ForecastLine(l))
		}
	}
	if err := s.journal.append(record); err != nil {
		return tuner.Forecast{}, err
	}
	s.noteUnpredicted(record)
	s.run.Forecasts = append(s.run.Forecasts, record)
	s.refuse(failed)
	return record.Forecast, s.fatal
}

// noteUnpredicted says once in a run that memory could not be predicted.
func (s *session) noteUnpredicted(record ForecastRecord) {
	for _, earlier := range s.run.Forecasts {
		if earlier.Failure != nil {
			return
		}
	}
	if record.Failure != nil {
		s.events.Note(fmt.Sprintf("Memory cannot be predicted (%s): the search goes on without.", firstLine(record.Failure.Text)))
	}
}

// predictOnWorker asks a worker, which is started where there is none.
func (s *session) predictOnWorker(ctx context.Context, c tuner.Config) (*protocol.Predicted, *Failure, error) {
	s.retire(tuner.Request{})
	log, err := os.Create(filepath.Join(s.run.Dir, "logs", fmt.Sprintf("forecast-%d.log", len(s.run.Forecasts)+1)))
	if err != nil {
		return nil, nil, s.logError(err)
	}
	record := &TrialRecord{}
	if failed, err := s.ready(ctx, record, log); failed != nil || err != nil {
		return nil, failed, err
	}
	s.worker.trials++ // what it left behind is in the next trial's process
	a := &attempt{worker: s.worker, record: record, allowed: s.header.Settings.TrialTimeout}
	predicted, failed := a.predict(ctx, &protocol.Predict{Work: workOf(s.workload, s.header.Settings, c)})
	return predicted, failed, nil
}
