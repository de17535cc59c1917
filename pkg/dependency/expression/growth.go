package expression

import (
	"errors"
	"fmt"
	"maps"
	"regexp/syntax"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"open-cluster-management.io/interlock/pkg/text"
)

// CEL's cost limit counts steps, and notices a dear one only when it is done.
// Yet [x, x] of [x, x] of … doubles a value at every step, and one comparison
// of it would then take for ever. So the size of values is bounded before an
// expression is accepted, and a step costs what the sizes of its values are.

const (
	// maxSize is how large a value may become, in elements and characters.
	maxSize = 100_000
	// maxMacroDepth is how many macros such as map may stand within or after
	// each other: the types of many take the compiler minutes.
	maxMacroDepth = 8
	// maxNesting is how deep brackets may be nested, for the same reason.
	maxNesting = 50
	// maxPattern is how many instructions a regular expression may have.
	maxPattern = 256
)

// What is assumed of the variables; larger ones still run into the cost limit.
const (
	assumedEntries = 64
	assumedText    = 256
)

var (
	errTooLarge = errors.New("it could make values that are too large: nest or chain fewer macros such as map")
	errPattern  = errors.New("the pattern of matches must be written out, as in config.mode.matches('^a')")
)

// shape is an upper bound of a value: of a list or map how many elements it has
// and how large one is, of a text how many characters.
type shape struct {
	count   float64
	element *shape
}

var scalar = shape{count: 1}

// size is all that is in the value.
func (s shape) size() float64 {
	if s.element == nil {
		return s.count
	}
	return s.count * (1 + s.element.size())
}

// inner is one element; of a text, a part of it.
func (s shape) inner() shape {
	if s.element == nil {
		return s
	}
	return *s.element
}

// either is a bound of both.
func either(a, b shape) shape {
	bound := shape{count: max(a.count, b.count)}
	switch {
	case a.element == nil:
		bound.element = b.element
	case b.element == nil:
		bound.element = a.element
	default:
		element := either(*a.element, *b.element)
		bound.element = &element
	}
	return bound
}

// macroDepth counts the macros on the longest way into an expression.
func macroDepth(e ast.Expr) int {
	deepest := 0
	ast.PreOrderVisit(ast.NavigateExpr(ast.NewAST(e, nil), e), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.ComprehensionKind {
			return
		}
		depth := 1
		if navigable, ok := e.(ast.NavigableExpr); ok {
			for outer, inside := navigable.Parent(); inside; outer, inside = outer.Parent() {
				if outer.Kind() == ast.ComprehensionKind {
					depth++
				}
			}
		}
		deepest = max(deepest, depth)
	}))
	return deepest
}

// growth finds the shapes of all values of an expression.
type growth struct {
	checked *ast.AST
	err     error
}

// checkGrowth refuses an expression that can make values that are too large,
// or searches with too large a pattern.
func checkGrowth(checked *ast.AST) error {
	g := &growth{checked: checked}
	value := shape{count: assumedText}
	of := shape{count: assumedEntries, element: &value}
	g.of(checked.Expr(), map[string]shape{variableCluster: of, variableAddOn: of, variableConfig: of})
	return g.err
}

func (g *growth) fail(err error) {
	if g.err == nil {
		g.err = err
	}
}

func (g *growth) of(e ast.Expr, known map[string]shape) shape {
	found := g.find(e, known)
	if found.size() > maxSize {
		g.fail(errTooLarge)
		return scalar // so that no number overflows
	}
	return found
}

func (g *growth) find(e ast.Expr, known map[string]shape) shape {
	switch e.Kind() {
	case ast.IdentKind:
		return known[e.AsIdent()]
	case ast.LiteralKind:
		if text, ok := e.AsLiteral().Value().(string); ok {
			return shape{count: float64(len(text))}
		}
		return scalar
	case ast.SelectKind:
		return g.selected(e.AsSelect(), known)
	case ast.ListKind:
		return g.literal(e.AsList().Elements(), known)
	case ast.MapKind:
		var parts []ast.Expr
		for _, entry := range e.AsMap().Entries() {
			parts = append(parts, entry.AsMapEntry().Key(), entry.AsMapEntry().Value())
		}
		return g.literal(parts, known)
	case ast.CallKind:
		return g.call(e, known)
	case ast.ComprehensionKind:
		return g.comprehension(e.AsComprehension(), known)
	default:
		return scalar
	}
}

func (g *growth) selected(e ast.SelectExpr, known map[string]shape) shape {
	operand := g.of(e.Operand(), known)
	if name := e.Operand(); name.Kind() == ast.IdentKind && (name.AsIdent() == variableCluster || name.AsIdent() == variableAddOn) {
		return operand // one of their maps, or less
	}
	return operand.inner()
}

func (g *growth) literal(parts []ast.Expr, known map[string]shape) shape {
	var element shape
	for _, part := range parts {
		element = either(element, g.of(part, known))
	}
	return shape{count: float64(len(parts)), element: &element}
}

func (g *growth) call(e ast.Expr, known map[string]shape) shape {
	call := e.AsCall()
	parts := call.Args()
	if call.IsMemberFunction() {
		parts = append([]ast.Expr{call.Target()}, parts...)
	}
	var bound, sum shape
	for _, part := range parts {
		of := g.of(part, known)
		bound, sum.count = either(bound, of), sum.count+of.count
	}
	switch call.FunctionName() {
	case overloads.Matches:
		g.pattern(parts[len(parts)-1])
	case operators.Index, operators.OptIndex, operators.OptSelect:
		return bound.inner()
	case operators.Conditional:
		return bound
	}
	switch g.checked.GetType(e.ID()).Kind() {
	case cel.BoolKind, cel.IntKind, cel.UintKind, cel.DoubleKind, cel.DurationKind, cel.TimestampKind, cel.NullTypeKind, cel.TypeKind:
		return scalar
	}
	bound.count = sum.count
	return bound
}

// pattern checks a regular expression: what it costs cannot be told from its
// length, as repetitions multiply.
func (g *growth) pattern(e ast.Expr) {
	if e.Kind() != ast.LiteralKind {
		g.fail(errPattern)
		return
	}
	pattern, _ := e.AsLiteral().Value().(string)
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		g.fail(fmt.Errorf("pattern %q: %w", text.Excerpt(text.OneLine(pattern)), err))
		return
	}
	if program, err := syntax.Compile(parsed.Simplify()); err != nil || len(program.Inst) > maxPattern {
		g.fail(fmt.Errorf("pattern %q is too large: repeat less in it", text.Excerpt(text.OneLine(pattern))))
	}
}

func (g *growth) comprehension(e ast.ComprehensionExpr, known map[string]shape) shape {
	over := g.of(e.IterRange(), known)
	inside := maps.Clone(known)
	inside[e.IterVar()] = over.inner()
	if e.HasIterVar2() {
		inside[e.IterVar2()] = over.inner()
	}
	// What a step adds is what it makes of nothing.
	begun := g.of(e.AccuInit(), known)
	inside[e.AccuVar()] = shape{}
	g.of(e.LoopCondition(), inside)
	step := g.of(e.LoopStep(), inside)
	grown := either(begun, step)
	grown.count = begun.count + over.count*step.count
	if begun.element == nil { // a number or a boolean, or a value that is only named
		grown = either(begun, step)
	}
	inside[e.AccuVar()] = grown
	return g.of(e.Result(), inside)
}

// bySize charges for comparisons and searches by the sizes of the values, all
// the way down.
type bySize struct{}

// CallCost implements interpreter.ActualCostEstimator; nil is CEL's own charge.
func (bySize) CallCost(function, _ string, args []ref.Val, _ ref.Val) *uint64 {
	cost := uint64(1)
	switch function {
	case operators.Equals, operators.NotEquals, operators.In:
		for _, arg := range args {
			if _, isMap := arg.(traits.Mapper); !isMap || function != operators.In {
				cost += sizeOf(arg)
			}
		}
	case overloads.Matches:
		for _, arg := range args {
			cost += 10 * sizeOf(arg)
		}
	default:
		return nil
	}
	return &cost
}

// sizeOf counts elements, and characters by the ten.
func sizeOf(value ref.Val) uint64 {
	size := uint64(1)
	switch typed := value.(type) {
	case traits.Mapper:
		for it := typed.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			size += sizeOf(key) + sizeOf(typed.Get(key))
		}
	case traits.Lister:
		for it := typed.Iterator(); it.HasNext() == types.True; {
			size += sizeOf(it.Next())
		}
	default:
		if text, ok := value.Value().(string); ok {
			size += uint64(len(text) / 10)
		}
	}
	return size
}
