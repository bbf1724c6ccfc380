package harness

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// units of memory, the longest name first so that none is taken for the end of another.
var units = []struct {
	name  string
	bytes float64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12},
	{"B", 1},
}

// sizeForms says how a size is written, for error messages.
const sizeForms = "a size is a number above 0 with B, KiB, MiB, GiB, KB, MB or GB, such as 512MiB"

// ParseBytes reads a size such as 512MiB, 1.5 GB or 1048576. KiB, MiB, GiB and
// TiB count in 1024, KB, MB, GB and TB in 1000; B or no unit are bytes; upper and
// lower case mean the same. The size is rounded to whole bytes and is at least 1.
// An error is a *UsageError that names the text.
func ParseBytes(text string) (int64, error) {
	number, scale := strings.TrimSpace(text), 1.0
	for _, u := range units {
		if n := len(number) - len(u.name); n >= 0 && strings.EqualFold(number[n:], u.name) {
			number, scale = strings.TrimSpace(number[:n]), u.bytes
			break
		}
	}
	value, err := parseNumber(number)
	if err != nil {
		return 0, usagef("%q is not a size (%v): %s", text, err, sizeForms)
	}
	size := math.Round(value * scale)
	if size < 1 || size > math.MaxInt64/2 {
		return 0, usagef("%q is not a size between 1 byte and 4 EiB: %s", text, sizeForms)
	}
	return int64(size), nil
}

// parseNumber reads a plain positive decimal number.
func parseNumber(text string) (float64, error) {
	if text == "" {
		return 0, fmt.Errorf("the number is missing")
	}
	if i := strings.IndexFunc(text, func(r rune) bool { return (r < '0' || r > '9') && r != '.' && r != '-' && r != '+' }); i >= 0 {
		return 0, fmt.Errorf("%q is no number with a known unit", text)
	}
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no number", text)
	}
	if value <= 0 {
		return 0, fmt.Errorf("%s is not above 0", text)
	}
	return value, nil
}

// Limit is a memory limit or a headroom as written: one of bytes, a percentage, and none.
type Limit struct {
	Bytes   int64   // 0: not a size
	Percent float64 // above 0, at most 100; 0: not a percentage
	None    bool
}

// ParseLimit reads a size (see ParseBytes), a percentage above 0 and up to 100
// such as 90%, or none. An error is a *UsageError that names the text.
func ParseLimit(text string) (Limit, error) {
	trimmed := strings.TrimSpace(text)
	if strings.EqualFold(trimmed, "none") {
		return Limit{None: true}, nil
	}
	if number, found := strings.CutSuffix(trimmed, "%"); found {
		percent, err := parseNumber(strings.TrimSpace(number))
		if err != nil {
			return Limit{}, usagef("%q is not a percentage (%v): it is a number above 0 and up to 100, such as 90%%", text, err)
		}
		if percent > 100 {
			return Limit{}, usagef("%q is more than 100%%: write a percentage up to 100%%, or a size such as 2GiB", text)
		}
		return Limit{Percent: percent}, nil
	}
	bytes, err := ParseBytes(trimmed)
	if err != nil {
		return Limit{}, usagef("%q is neither a size, a percentage such as 90%%, nor none: %s", text, sizeForms)
	}
	return Limit{Bytes: bytes}, nil
}

// Of is the limit in bytes where whole is what a percentage is of; 0 for none.
func (l Limit) Of(whole int64) int64 {
	if l.Percent > 0 {
		return int64(math.Floor(float64(whole) * l.Percent / 100))
	}
	return l.Bytes
}

// FormatBytes writes a size for people, in the largest of B, KiB, MiB and GiB
// that leaves at least 1, with up to three digits after the point cut to what
// matters: 512 MiB, 1.5 GiB.
func FormatBytes(n int64) string {
	switch v := float64(n); {
	case n >= 1<<30:
		return trimZeros(v/(1<<30), 2) + " GiB"
	case n >= 1<<20:
		return trimZeros(v/(1<<20), 1) + " MiB"
	case n >= 1<<10:
		return trimZeros(v/(1<<10), 1) + " KiB"
	}
	return fmt.Sprintf("%d B", n)
}

// trimZeros writes v with at most the given digits after the point and no zeros at the end.
func trimZeros(v float64, digits int) string {
	s := strconv.FormatFloat(v, 'f', digits, 64)
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}
