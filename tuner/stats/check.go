package stats

import (
	"errors"
	"fmt"
	"math"
)

// ErrNoValues is the error for an empty list of values.
var ErrNoValues = errors.New("no values to summarise")

// checkFinite refuses an empty list and values that are NaN or infinite.
func checkFinite(values []float64) error {
	if len(values) == 0 {
		return ErrNoValues
	}
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("value %d of %d is %v: want a finite number", i+1, len(values), v)
		}
	}
	return nil
}

// checkPositive refuses what checkFinite refuses, and values of 0 or below.
func checkPositive(values []float64) error {
	if err := checkFinite(values); err != nil {
		return err
	}
	for i, v := range values {
		if v <= 0 {
			return fmt.Errorf("value %d of %d is %v: a ratio needs numbers above 0", i+1, len(values), v)
		}
	}
	return nil
}
