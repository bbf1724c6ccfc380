package model

import "fmt"

// Conv is a two-dimensional convolution with square kernels and zero padding,
// with a weight of shape (Filters, in, Kernel, Kernel).
type Conv struct {
	Filters int
	Kernel  int // side, 1 or more
	Stride  int // 1 or more
	Pad     int // zeros on each side, 0 or more
	Bias    bool
	// Init is that of the weight; the bias begins at 0.
	Init Init
}

// MaxPool is the largest value of each square window. Padding counts as minus infinity.
type MaxPool struct {
	Kernel int // side, 1 or more
	Stride int // 1 or more
	Pad    int // on each side, 0 to Kernel/2
}

// BatchNorm normalises each channel over the batch and the image, then scales and
// shifts it (Ioffe and Szegedy, arXiv 1502.03167).
type BatchNorm struct {
	// Epsilon is added to the variance, above 0.
	Epsilon float64
	// Momentum is the weight of a batch's statistics in the running ones, 0 to 1.
	Momentum float64
}

// GlobalAveragePool is the mean of each channel over the image.
type GlobalAveragePool struct{}

func (op Conv) infer(l *Layer) error {
	out, err := window(l.Inputs[0].Shape, op.Kernel, op.Stride, op.Pad)
	if err != nil {
		return err
	}
	if op.Filters < 1 {
		return fmt.Errorf("has %d filters; it needs 1 or more", op.Filters)
	}
	l.Shape = []int{op.Filters, out[0], out[1]}
	weight := []int{op.Filters, l.Inputs[0].Shape[0], op.Kernel, op.Kernel}
	l.Params = []Param{{Name: l.Name + ".weight", Shape: weight, Init: op.Init, Decay: true}}
	if op.Bias {
		l.Params = append(l.Params, Param{Name: l.Name + ".bias", Shape: []int{op.Filters}})
	}
	return nil
}

func (op Conv) multiplyAdds(l *Layer) int64 {
	return int64(size(l.Shape)) * int64(l.Inputs[0].Shape[0]*op.Kernel*op.Kernel)
}

func (Conv) activations(l *Layer) int64 { return int64(size(l.Shape)) }

func (op MaxPool) infer(l *Layer) error {
	out, err := window(l.Inputs[0].Shape, op.Kernel, op.Stride, op.Pad)
	if err != nil {
		return err
	}
	if op.Pad > op.Kernel/2 {
		return fmt.Errorf("pads by %d, more than half of its window of %d", op.Pad, op.Kernel)
	}
	l.Shape = []int{l.Inputs[0].Shape[0], out[0], out[1]}
	return nil
}

func (MaxPool) multiplyAdds(*Layer) int64  { return 0 }
func (MaxPool) activations(l *Layer) int64 { return int64(size(l.Shape)) }

func (op BatchNorm) infer(l *Layer) error {
	in, err := image(l.Inputs[0].Shape)
	if err != nil {
		return err
	}
	if op.Epsilon <= 0 || op.Momentum < 0 || op.Momentum > 1 {
		return fmt.Errorf("has epsilon %g and momentum %g; they must be above 0, and in 0 to 1", op.Epsilon, op.Momentum)
	}
	l.Shape = in
	l.Params = []Param{
		{Name: l.Name + ".weight", Shape: []int{in[0]}, Init: Init{Scale: 1}},
		{Name: l.Name + ".bias", Shape: []int{in[0]}},
	}
	return nil
}

func (BatchNorm) multiplyAdds(*Layer) int64  { return 0 }
func (BatchNorm) activations(l *Layer) int64 { return int64(size(l.Shape)) }

func (GlobalAveragePool) infer(l *Layer) error {
	in, err := image(l.Inputs[0].Shape)
	if err != nil {
		return err
	}
	l.Shape = in[:1]
	return nil
}

func (GlobalAveragePool) multiplyAdds(*Layer) int64  { return 0 }
func (GlobalAveragePool) activations(l *Layer) int64 { return int64(size(l.Shape)) }

// image checks that a shape is channels, height, width.
func image(shape []int) ([]int, error) {
	if len(shape) != 3 {
		return nil, fmt.Errorf("takes an image (channels, height, width), not the shape %v", shape)
	}
	return shape, nil
}

// window gives the height and width that windows of a kernel leave of an image:
// (side + 2 pad - kernel) / stride + 1, rounded down.
func window(in []int, kernel, stride, pad int) ([2]int, error) {
	if _, err := image(in); err != nil {
		return [2]int{}, err
	}
	if kernel < 1 || stride < 1 || pad < 0 {
		return [2]int{}, fmt.Errorf("has kernel %d, stride %d and padding %d; they must be 1, 1 and 0 or more", kernel, stride, pad)
	}
	var out [2]int
	for i, side := range in[1:] {
		room := side + 2*pad - kernel
		if room < 0 {
			return out, fmt.Errorf("a window of %dx%d does not fit an image of %dx%d padded by %d; use larger images",
				kernel, kernel, in[1], in[2], pad)
		}
		out[i] = room/stride + 1
	}
	return out, nil
}
