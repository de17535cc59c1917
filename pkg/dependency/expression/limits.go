package expression

import (
	"errors"
	"fmt"
	"regexp/syntax"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"open-cluster-management.io/interlock/pkg/text"
)

// CEL's cost limit counts steps, and detects an expensive one only after it has
// run. CEL's estimate of the cost does not see it either: [x, x] of [x, x] of …
// doubles a value at every step, and both count a comparison of it as one step.
// It would run for years. So values cannot grow that way: only a list or map that
// is written out contains others, one level deep, and lists are not added. The
// rest is bounded by the length of the expression and by its variables, and a
// comparison costs what it compares.

const (
	// maxDepth is how deep lists and maps may be within each other, as in
	// [cluster.labels, config].
	maxDepth = 2
	// maxMacroDepth is how many macros such as map may be within or after each
	// other: the types of many take the compiler seconds.
	maxMacroDepth = 8
	// maxNesting is how deep brackets may be nested, for the same reason.
	maxNesting = 50
	// maxPattern is how many instructions a regular expression may have.
	maxPattern = 256
)

var (
	errTooLarge = errors.New("it could make values that are too large: nest or chain fewer macros such as map")
	errNested   = errors.New("it could make values that are too large: only a list or map that is written out may contain others, one level deep, as in [config, cluster.labels]")
	errAdded    = errors.New("it could make values that are too large: lists cannot be added")
	errPattern  = errors.New("the pattern of matches must be written out, as in config.mode.matches('^a')")
)

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

// checkLimits refuses an expression that can make values that are too large, or
// searches with too large a pattern.
func checkLimits(checked *ast.AST) error {
	made := macroResults(checked)
	var errs []error
	ast.PostOrderVisit(checked.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		limit := maxDepth - 1
		if made[e.ID()] {
			limit = 0
		}
		for _, part := range parts(e) {
			if depth(checked.GetType(part.ID())) > limit {
				errs = append(errs, errNested)
			}
		}
		if e.Kind() != ast.CallKind {
			return
		}
		switch call := e.AsCall(); call.FunctionName() {
		case operators.Add:
			if kind := checked.GetType(e.ID()).Kind(); (kind == types.ListKind || kind == types.DynKind) && !made[e.ID()] {
				errs = append(errs, errAdded)
			}
		case overloads.Matches:
			if err := checkPattern(call.Args()[len(call.Args())-1]); err != nil {
				errs = append(errs, err)
			}
		case functionMatches:
			if err := checkRange(call.Args()[0]); err != nil {
				errs = append(errs, err)
			}
		}
	}))
	if len(errs) == 0 {
		return nil
	}
	return errs[0]
}

// macroResults are the expressions by which macros such as map collect their
// results: the addition of a list, and that list.
func macroResults(checked *ast.AST) map[int64]bool {
	found := map[int64]bool{}
	ast.PostOrderVisit(checked.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.ComprehensionKind {
			return
		}
		accumulator := e.AsComprehension().AccuVar()
		ast.PostOrderVisit(e.AsComprehension().LoopStep(), ast.NewExprVisitor(func(step ast.Expr) {
			if step.Kind() != ast.CallKind || step.AsCall().FunctionName() != operators.Add {
				return
			}
			args := step.AsCall().Args()
			if args[0].Kind() == ast.IdentKind && args[0].AsIdent() == accumulator && args[1].Kind() == ast.ListKind {
				found[step.ID()], found[args[1].ID()] = true, true
			}
		}))
	}))
	return found
}

// parts are the values that a list or a map is made of.
func parts(e ast.Expr) []ast.Expr {
	switch e.Kind() {
	case ast.ListKind:
		return e.AsList().Elements()
	case ast.MapKind:
		var found []ast.Expr
		for _, entry := range e.AsMap().Entries() {
			found = append(found, entry.AsMapEntry().Key(), entry.AsMapEntry().Value())
		}
		return found
	default:
		return nil
	}
}

// depth is how many lists and maps are within each other in a value of the type.
// A type that is not known may be anything.
func depth(t *types.Type) int {
	deepest := 0
	for _, parameter := range t.Parameters() {
		deepest = max(deepest, depth(parameter))
	}
	switch t.Kind() {
	case types.ListKind, types.MapKind:
		return deepest + 1
	case types.DynKind, types.AnyKind:
		return maxDepth + 1
	default:
		return deepest
	}
}

// checkPattern checks a regular expression: what it costs cannot be derived from its
// length, because repetitions multiply.
func checkPattern(e ast.Expr) error {
	if e.Kind() != ast.LiteralKind {
		return errPattern
	}
	pattern, _ := e.AsLiteral().Value().(string)
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return fmt.Errorf("pattern %q: %w", text.Excerpt(text.OneLine(pattern)), err)
	}
	if program, err := syntax.Compile(parsed.Simplify()); err != nil || len(program.Inst) > maxPattern {
		return fmt.Errorf("pattern %q is too large: repeat less in it", text.Excerpt(text.OneLine(pattern)))
	}
	return nil
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
	case overloads.Matches, functionIsSemver, functionMatches, functionCompare:
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
