package devices

import (
	"fmt"
	"path"
	"strings"

	"autotune/harness"
)

// idleBytes is what a driver may hold of a device that nobody uses.
const idleBytes = 1 << 30

// Busy says in a clause who uses the device and how much, such as "31.2 GiB used by others: python 1234"; empty: nobody that is seen.
func (g GPU) Busy() string {
	used := "an unknown amount"
	if g.UsedBytes != nil {
		used = harness.FormatBytes(*g.UsedBytes)
	}
	if len(g.Processes) > 0 {
		return used + " used by others: " + g.Users()
	}
	if g.UsedBytes != nil && *g.UsedBytes > idleBytes {
		return used + " used by processes that cannot be seen from here"
	}
	return ""
}

// mostUsers is how many processes are named.
const mostUsers = 4

// Users names the processes, such as "python 1234, python 77"; empty: there are none.
func (g GPU) Users() string {
	var users []string
	for _, p := range g.Processes {
		users = append(users, fmt.Sprintf("%s %d", path.Base(p.Name), p.PID))
	}
	if more := len(users) - mostUsers; more > 0 {
		users = append(users[:mostUsers], fmt.Sprintf("%d more", more))
	}
	return strings.Join(users, ", ")
}
