package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"autotune/workloads/nearest"
)

// The types of flags' values. Each checks what it is given when it is set, so
// that a message can name the place: the flag, or the line of a YAML file.

// text is a string that must not be empty and must pass check, where there is one.
type text struct {
	value *string
	check func(string) error
}

// Type is the name of the kind of value.
func (t text) Type() string { return "string" }

// String is the value as a flag has it.
func (t text) String() string { return *t.value }

// Set reads the value.
func (t text) Set(s string) error {
	if strings.TrimSpace(s) == "" {
		return errEmpty
	}
	if t.check != nil {
		if err := t.check(s); err != nil {
			return err
		}
	}
	*t.value = s
	return nil
}

var errEmpty = errors.New("nothing is given; write a value, or leave it out for the default")

// oneOf is a check that allows the given names.
func oneOf(names ...string) func(string) error {
	return func(s string) error {
		if slices.Contains(names, s) {
			return nil
		}
		return fmt.Errorf("unknown; it is one of %s%s", strings.Join(names, ", "), nearest.Question(s, names, ""))
	}
}

// names is a list of names with commas between them, each of which must pass check.
type names struct {
	value *[]string
	check func(string) error
}

// Type is the name of the kind of value.
func (n names) Type() string { return "names" }

// String is the value as a flag has it.
func (n names) String() string { return strings.Join(*n.value, ",") }

// Set reads the value.
func (n names) Set(s string) error {
	if strings.TrimSpace(s) == "" {
		return errEmpty
	}
	var list []string
	for name := range strings.SplitSeq(s, ",") {
		name = strings.TrimSpace(name)
		if err := n.check(name); err != nil {
			return fmt.Errorf("%q: %w", name, err)
		}
		if slices.Contains(list, name) {
			return fmt.Errorf("%s is given twice; name it once", name)
		}
		list = append(list, name)
	}
	*n.value = list
	return nil
}

// sizes is a list of whole numbers from 1, read by parse.
type sizes struct {
	value *[]int
	parse func(string) ([]int, error)
}

// Type is the name of the kind of value.
func (z sizes) Type() string { return "sizes" }

// String is the value as a flag has it.
func (z sizes) String() string {
	var list []string
	for _, n := range *z.value {
		list = append(list, strconv.Itoa(n))
	}
	return strings.Join(list, ",")
}

// Set reads the value.
func (z sizes) Set(s string) error {
	list, err := z.parse(s)
	if err != nil {
		return err
	}
	*z.value = list
	return nil
}

// count is a whole number from least on.
type count struct {
	value *int
	least int
}

// Type is the name of the kind of value.
func (c count) Type() string { return "int" }

// String is the value as a flag has it.
func (c count) String() string { return strconv.Itoa(*c.value) }

// Set reads the value.
func (c count) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < c.least {
		return fmt.Errorf("not a whole number from %d on", c.least)
	}
	*c.value = n
	return nil
}

// seconds is a duration such as 90s or 1h30m, kept in seconds; 0 and more, or above 0.
type seconds struct {
	value *float64
	above bool // 0 is refused
}

// Type is the name of the kind of value.
func (d seconds) Type() string { return "duration" }

// String is the value as a flag has it.
func (d seconds) String() string {
	if *d.value == 0 {
		return "0"
	}
	return time.Duration(*d.value * float64(time.Second)).String()
}

// Set reads the value.
func (d seconds) Set(s string) error {
	length, err := time.ParseDuration(s)
	if err != nil {
		return errors.New("not a duration; write one such as 90s, 10m or 1h30m")
	}
	if length < 0 {
		return errors.New("a duration cannot be negative; write one such as 90s, 10m or 1h30m")
	}
	if length == 0 && d.above {
		return errors.New("no time at all; write a duration such as 90s, 10m or 1h30m")
	}
	*d.value = length.Seconds()
	return nil
}

// options are a model's options, one KEY=VALUE each time the flag is given.
type options struct{ value *map[string]string }

// Type is the name of the kind of value.
func (o options) Type() string { return "option" }

// String is the value as a flag has it.
func (o options) String() string {
	var list []string
	for key, value := range *o.value {
		list = append(list, key+"="+value)
	}
	slices.Sort(list)
	return strings.Join(list, ",")
}

// Set reads the value.
func (o options) Set(s string) error {
	key, value, found := strings.Cut(s, "=")
	if !found || key == "" || value == "" {
		return errors.New("not an option; write KEY=VALUE, such as width=128 (autotune models lists each model's)")
	}
	if *o.value == nil {
		*o.value = map[string]string{}
	}
	(*o.value)[key] = value
	return nil
}

// seed is a whole number from 0 on.
type seed struct{ value *uint64 }

// Type is the name of the kind of value.
func (n seed) Type() string { return "uint" }

// String is the value as a flag has it.
func (n seed) String() string { return strconv.FormatUint(*n.value, 10) }

// Set reads the value.
func (n seed) Set(s string) error {
	value, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return errors.New("not a whole number from 0 on")
	}
	*n.value = value
	return nil
}

// percentage is a part of 1, written as a percentage from 0% to below 100%.
type percentage struct{ value *float64 }

// Type is the name of the kind of value.
func (p percentage) Type() string { return "percentage" }

// String is the value as a flag has it.
func (p percentage) String() string { return strconv.FormatFloat(*p.value*100, 'g', -1, 64) + "%" }

// Set reads the value.
func (p percentage) Set(s string) error {
	number, found := strings.CutSuffix(s, "%")
	value, err := strconv.ParseFloat(number, 64)
	if !found || err != nil || !(value >= 0 && value < 100) {
		return errors.New("not a percentage from 0% to below 100%, such as 2%")
	}
	*p.value = value / 100
	return nil
}
