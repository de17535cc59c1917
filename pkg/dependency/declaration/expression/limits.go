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

// CEL's cost limit counts steps, and detects an expensive step only after it has run. Nested literals such as [x, x] of
// [x, x] double a value at every step. A comparison of that value counts as one step, also in CEL's estimate. It would run
// for years. So values cannot grow that way. Only a literal list or map contains others, one level deep, and lists cannot
// be added. The length of the expression and its variables bound the rest. The cost of a comparison is the size of its
// operands.

const (
	// maxDepth is the maximum nesting of lists and maps, as in [cluster.labels, config].
	maxDepth = 2
	// maxMacroDepth is the maximum nesting or chain of macros such as map. With more, the compiler
	// needs seconds for their types.
	maxMacroDepth = 8
	// maxNesting is the maximum nesting of brackets, for the same reason.
	maxNesting = 50
	// maxPattern is the maximum number of instructions of a regular expression.
	maxPattern = 256
)

var (
	errTooLarge = errors.New("it could make values that are too large: nest or chain fewer macros such as map")
	errNested   = errors.New("it could make values that are too large: only a list or map that is written out may contain others, one level deep, as in [config, cluster.labels]")
	errAdded    = errors.New("it could make values that are too large: lists cannot be added")
	errPattern  = errors.New("the pattern of matches must be written out, as in config.mode.matches('^a')")
)

// macroDepth returns the number of macros on the longest path into an expression.
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

// checkLimits returns an error for an expression that can produce too large values, or that has
// too large a pattern.
func checkLimits(checked *ast.AST) error {
	macroResults := macroResults(checked)
	var errs []error
	ast.PostOrderVisit(checked.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		limit := maxDepth - 1
		if macroResults[e.ID()] {
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
			if kind := checked.GetType(e.ID()).Kind(); (kind == types.ListKind || kind == types.DynKind) && !macroResults[e.ID()] {
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

// macroResults returns the IDs of the expressions with which macros such as map collect their
// results: the addition of a list, and that list.
func macroResults(checked *ast.AST) map[int64]bool {
	ids := map[int64]bool{}
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
				ids[step.ID()], ids[args[1].ID()] = true, true
			}
		}))
	}))
	return ids
}

// parts returns the elements of a literal list, or the keys and values of a literal map.
func parts(e ast.Expr) []ast.Expr {
	switch e.Kind() {
	case ast.ListKind:
		return e.AsList().Elements()
	case ast.MapKind:
		var entries []ast.Expr
		for _, entry := range e.AsMap().Entries() {
			entries = append(entries, entry.AsMapEntry().Key(), entry.AsMapEntry().Value())
		}
		return entries
	default:
		return nil
	}
}

// depth returns the nesting of lists and maps in a value of a type. A dynamic type counts as too deep.
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

// checkPattern checks the size of a compiled regular expression. Its length says nothing about the cost,
// because repetitions multiply.
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

// bySize makes the cost of comparisons and searches depend on the sizes of their values.
type bySize struct{}

// CallCost implements interpreter.ActualCostEstimator. If it returns nil, CEL's own cost counts.
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

// sizeOf returns the number of elements of a value, plus a tenth of its characters.
func sizeOf(value ref.Val) uint64 {
	size := uint64(1)
	switch typed := value.(type) {
	case traits.Mapper:
		for iterator := typed.Iterator(); iterator.HasNext() == types.True; {
			key := iterator.Next()
			size += sizeOf(key) + sizeOf(typed.Get(key))
		}
	case traits.Lister:
		for iterator := typed.Iterator(); iterator.HasNext() == types.True; {
			size += sizeOf(iterator.Next())
		}
	default:
		if text, ok := value.Value().(string); ok {
			size += uint64(len(text) / 10)
		}
	}
	return size
}
