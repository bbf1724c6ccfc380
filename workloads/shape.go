package workloads

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseShape reads the shape of one sample, such as 3,224,224: whole numbers from 1 on.
func ParseShape(text string) ([]int, error) {
	var shape []int
	for part := range strings.SplitSeq(text, ",") {
		side, err := strconv.ParseInt(strings.TrimSpace(part), 10, 32)
		if err != nil || side < 1 {
			return nil, fmt.Errorf("%q is no side of a sample's shape; write whole numbers from 1 on with commas between them, such as 3,224,224", part)
		}
		shape = append(shape, int(side))
	}
	return shape, nil
}
