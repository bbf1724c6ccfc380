package tuner

import "slices"

// Foresee takes in the forecast that a Request with the purpose Predict asked for,
// before or after the trials of its set. Trials are chosen by it; what fits is told by trials alone.
func (t *Tuner) Foresee(f Forecast) {
	f.Lines = slices.Clone(f.Lines)
	t.forecasts[ledgerKey{f.Set, class(f.Accumulation)}] = f
	t.asked = nil
}

// wantsForecast says whether a forecast is to be asked for before the trial: it is the
// first of its set, in the class in which borders are sought, and there is a figure to hold
// a forecast against.
func (t *Tuner) wantsForecast(r Request) bool {
	key := ledgerKey{r.Set(), class(r.Accumulation)}
	return r.Purpose == Fit && t.expectsForecast(key) && key.class == t.borderClass()
}

// expectsForecast says whether a set and class has no trial yet and may still be foreseen.
func (t *Tuner) expectsForecast(key ledgerKey) bool {
	_, known := t.forecasts[key]
	return !known && t.space.Predicts && len(t.digest().fits(key.Set, key.class).sizes) == 0 && t.forecastsHelp()
}

// forecastsHelp says whether a forecast can be held against something: the limit, or
// the room that a forecast tells. The first one is asked for to see.
func (t *Tuner) forecastsHelp() bool {
	if t.goal.LimitBytes > 0 || len(t.forecasts) == 0 {
		return true
	}
	for _, f := range t.forecasts {
		if f.RoomBytes > 0 {
			return true
		}
	}
	return false
}

// forecastRequest asks for the forecast of the set and class that a trial belongs to.
func forecastRequest(r Request) Request {
	c := Config{Precision: r.Precision, Knobs: r.Knobs, Accumulation: class(r.Accumulation)}
	return Request{Config: c, Purpose: Predict}
}

// foresight gives what is foreseen of a set and class where its peaks may be at most
// limit, in bytes (0: as much as there is room for); nil: nothing is.
func (t *Tuner) foresight(set Set, class int, limit int64) *foresight {
	f, known := t.forecasts[ledgerKey{set, class}]
	if limit == 0 {
		limit = f.RoomBytes
	}
	if !known || limit == 0 || !(f.Peak(t.space.Sizes[0]) > 0) {
		return nil
	}
	return &foresight{forecast: f, room: float64(limit)}
}

// foreseenToFit keeps the configurations that are foreseen to fit and to leave the
// headroom; all, where that is nothing or nothing is foreseen.
func (t *Tuner) foreseenToFit(configs []Config) []Config {
	var fitting []Config
	for _, c := range configs {
		f := t.foresight(c.Set(), class(c.Accumulation), t.digest().safeLimit())
		if f != nil && f.fits(c.MicroBatch) {
			fitting = append(fitting, c)
		}
	}
	if len(fitting) == 0 {
		return configs
	}
	return fitting
}
