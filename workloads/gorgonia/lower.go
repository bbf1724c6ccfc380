package gorgonia

import (
	"fmt"
	"runtime"
	"slices"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"autotune/workloads/model"
)

// Nodes that share a value give its header back to the pool of tensors once each
// when they are unbound, and then the pool would lend it out twice.
func init() { tensor.DontUsePool() }

// network is a model as Gorgonia runs it, for one micro-batch size.
type network struct {
	graph   *gorgonia.ExprGraph
	machine gorgonia.VM
	input   *gorgonia.Node // (micro-batch, sample's shape), or the tokens one after another
	target  *gorgonia.Node // (predictions, classes): 1 for the class, else 0
	params  gorgonia.Nodes // in the order of model.Graph.Params
	norms   map[string]*gorgonia.BatchNormOp
	loss    gorgonia.Value // of the pass that ran last
}

// lower makes forward pass, loss and gradients of a model for passes of a
// micro-batch. The loss is the mean cross-entropy of all predictions, divided by the
// accumulation steps, so that the gradients of a step's passes add up to those of the whole batch.
func lower[T model.Float](graph *model.Graph, microBatch, accumulation int, seed uint64) (*network, error) {
	b := &lowering{
		network: &network{graph: gorgonia.NewGraph(), norms: map[string]*gorgonia.BatchNormOp{}},
		dtype:   tensor.Float64,
		batch:   microBatch,
	}
	if _, ok := any(T(0)).(float32); ok {
		b.dtype = tensor.Float32
	}
	nodes := map[*model.Layer]*gorgonia.Node{}
	for _, l := range graph.Layers() {
		var params []*gorgonia.Node
		for _, p := range l.Params {
			params = append(params, b.param(p, fill[T](p, seed)))
		}
		node, err := b.layer(l, nodes, params)
		if err != nil {
			return nil, fmt.Errorf("layer %q: %w", l.Name, err)
		}
		nodes[l] = node
	}
	layers := graph.Layers()
	if err := b.finish(nodes[layers[len(layers)-1]], microBatch*graph.Predictions(), graph.Classes(), accumulation); err != nil {
		return nil, err
	}
	return b.network, nil
}

// lowering is a network in the making.
type lowering struct {
	*network
	dtype tensor.Dtype
	batch int
	err   error
}

// do keeps the first error of a chain of operations; later ones get nil nodes and are not run.
func (b *lowering) do(op func() (*gorgonia.Node, error)) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	n, err := op()
	if err != nil {
		b.err = err
		return nil
	}
	return n
}

func (b *lowering) reshape(x *gorgonia.Node, shape ...int) *gorgonia.Node {
	return b.do(func() (*gorgonia.Node, error) {
		if slices.Equal(x.Shape(), shape) {
			return x, nil
		}
		return gorgonia.Reshape(x, shape)
	})
}

// binary is an operation on two nodes, such as gorgonia.Add.
type binary func(a, b *gorgonia.Node) (*gorgonia.Node, error)

func (b *lowering) apply(op binary, x, y *gorgonia.Node) *gorgonia.Node {
	return b.do(func() (*gorgonia.Node, error) { return op(x, y) })
}

// broadcast applies an operation to two nodes of equal rank, where sides of 1 are repeated.
func (b *lowering) broadcast(op func(a, b *gorgonia.Node, left, right []byte) (*gorgonia.Node, error), x, y *gorgonia.Node) *gorgonia.Node {
	return b.do(func() (*gorgonia.Node, error) { return gorgonia.Auto(op, x, y) })
}

// scale multiplies by a constant.
func (b *lowering) scale(x *gorgonia.Node, factor float64) *gorgonia.Node {
	return b.apply(gorgonia.Mul, x, b.constant(factor))
}

func (b *lowering) constant(x float64) *gorgonia.Node {
	if b.dtype == tensor.Float32 {
		return gorgonia.NewConstant(float32(x))
	}
	return gorgonia.NewConstant(x)
}

// param adds a trained tensor. A vector becomes one with sides of 1 around the
// axis that it is repeated along: (1, n), as all but the images' operations take it.
func (b *lowering) param(p model.Param, backing any) *gorgonia.Node {
	shape := p.Shape
	if len(shape) == 1 {
		shape = []int{1, shape[0]}
	}
	value := tensor.New(tensor.WithShape(shape...), tensor.WithBacking(backing))
	gradient := tensor.New(tensor.WithShape(shape...), tensor.Of(b.dtype))
	n := gorgonia.NewTensor(b.graph, b.dtype, len(shape), gorgonia.WithShape(shape...), gorgonia.WithName(p.Name),
		gorgonia.WithValue(value), gorgonia.WithGrad(gradient))
	b.params = append(b.params, n)
	return n
}

// fill makes a parameter's first values.
func fill[T model.Float](p model.Param, seed uint64) []T {
	values := make([]T, p.Size())
	model.Fill(values, p, seed)
	return values
}

// variable adds a tensor that is not trained, with zeros in it.
func (b *lowering) variable(name string, dtype tensor.Dtype, shape ...int) *gorgonia.Node {
	value := tensor.New(tensor.Of(dtype), tensor.WithShape(shape...))
	return gorgonia.NewTensor(b.graph, dtype, len(shape), gorgonia.WithShape(shape...), gorgonia.WithName(name), gorgonia.WithValue(value))
}

// finish adds the loss and the gradients, and compiles the program.
func (b *lowering) finish(logits *gorgonia.Node, predictions, classes, accumulation int) error {
	b.target = b.variable("target", b.dtype, predictions, classes)
	logits = b.reshape(logits, predictions, classes)
	logs := b.do(func() (*gorgonia.Node, error) { return gorgonia.LogSoftMax(logits, 1) })
	picked := b.apply(gorgonia.HadamardProd, logs, b.target)
	sum := b.do(func() (*gorgonia.Node, error) { return gorgonia.Sum(picked) })
	loss := b.scale(sum, -1/float64(predictions*accumulation))
	if b.err != nil {
		return fmt.Errorf("loss: %w", b.err)
	}
	gorgonia.Read(loss, &b.loss)
	if _, err := gorgonia.Grad(loss, b.params...); err != nil {
		return fmt.Errorf("gradients: %w", err)
	}
	b.machine = gorgonia.NewTapeMachine(b.graph, gorgonia.BindDualValues(b.params...))
	// The machine's finalizer has nothing to do without CUDA, but it would keep
	// the whole network: what refers to itself and has a finalizer is never collected.
	runtime.SetFinalizer(b.machine, nil)
	return nil
}

// pass runs forward and backward pass once, adds the gradients to those of the
// passes before, lets go of all values between input and loss, and gives the loss.
func (n *network) pass() (float64, error) {
	if err := n.machine.RunAll(); err != nil {
		return 0, err
	}
	n.machine.Reset()
	n.graph.UnbindAllNonInputs()
	switch loss := n.loss.Data().(type) {
	case float32:
		return float64(loss), nil
	case float64:
		return loss, nil
	default:
		return 0, fmt.Errorf("the loss has the type %T", loss)
	}
}

// values are a parameter's weights and gradients, which share memory with the network's.
func values[T model.Float](p *gorgonia.Node) (weights, gradients []T, err error) {
	gradient, err := p.Grad()
	if err != nil {
		return nil, nil, fmt.Errorf("parameter %q: %w", p.Name(), err)
	}
	return p.Value().Data().([]T), gradient.Data().([]T), nil
}

// close lets go of weights, gradients and data. It unbinds the values, since
// Gorgonia's constants are shared between graphs and keep the last one alive.
func (n *network) close() error {
	n.graph.UnbindAll()
	return n.machine.Close()
}
