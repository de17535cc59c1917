package dependency

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/ext"
)

// costLimit bounds what the evaluation of one expression may cost, in CEL's
// units: it ends within some milliseconds, whatever its author wrote.
const costLimit = 100_000

var errTooCostly = errors.New("it takes too many steps")

var errNotBool = errors.New("must be true or false, as in config.?mode.orValue('') == 'proxy'")

// The variables that an expression knows. Types that are declared let a wrong
// field be found when the add-on is registered, not on some cluster.
type (
	clusterVariable struct {
		Name    string            `cel:"name"`
		Labels  map[string]string `cel:"labels"`
		Claims  map[string]string `cel:"claims"`
		Version string            `cel:"version"`
	}
	addOnVariable struct {
		Name        string            `cel:"name"`
		Labels      map[string]string `cel:"labels"`
		Annotations map[string]string `cel:"annotations"`
	}
)

const (
	variableCluster = "cluster"
	variableAddOn   = "addOn"
	variableConfig  = "config"
)

// environment is what all expressions are compiled in. It has no extension by
// which some text can make a much longer one: the cost limit does not know it.
var environment = sync.OnceValues(func() (*cel.Env, error) {
	return cel.NewEnv(
		cel.OptionalTypes(), // before the types below, whose provider takes no more
		ext.NativeTypes(ext.ParseStructTags(true), reflect.TypeFor[clusterVariable](), reflect.TypeFor[addOnVariable]()),
		cel.Variable(variableCluster, cel.ObjectType("dependency.clusterVariable")),
		cel.Variable(variableAddOn, cel.ObjectType("dependency.addOnVariable")),
		cel.Variable(variableConfig, cel.MapType(cel.StringType, cel.StringType)),
	)
})

// expression is a compiled condition. It is safe for concurrent use.
type expression struct {
	program cel.Program
	uses    Uses
}

// compileExpression reads a CEL expression; the error says what is wrong with
// it on one line.
func compileExpression(text string) (*expression, error) {
	env, err := environment()
	if err != nil {
		return nil, fmt.Errorf("prepare CEL: %w", err) // at the first use, by every test
	}
	checked, issues := env.Compile(text)
	if issues.Err() != nil {
		return nil, errors.New(issueText(issues))
	}
	if checked.OutputType() != cel.BoolType {
		return nil, errNotBool
	}
	program, err := env.Program(checked, cel.CostLimit(costLimit))
	if err != nil {
		return nil, err
	}
	return &expression{program: program, uses: usesOf(checked.NativeRep())}, nil
}

// issueText lists what the compiler found, without the source that it quotes
// on further lines.
func issueText(issues *cel.Issues) string {
	var texts []string
	for _, issue := range issues.Errors() {
		texts = append(texts, fmt.Sprintf("column %d: %s", issue.Location.Column()+1, issue.Message))
	}
	return strings.Join(texts, "; ")
}

// evaluate tells whether the expression is true.
func (e *expression) evaluate(cluster *Cluster, self Observation, name string) (bool, error) {
	value, _, err := e.program.Eval(map[string]any{
		variableCluster: &clusterVariable{
			Name: cluster.Name, Labels: orEmpty(cluster.Labels), Claims: orEmpty(cluster.Claims), Version: cluster.KubernetesVersion,
		},
		variableAddOn:  &addOnVariable{Name: name, Labels: orEmpty(self.Labels), Annotations: orEmpty(self.Annotations)},
		variableConfig: orEmpty(self.Config),
	})
	if err != nil && strings.Contains(err.Error(), "cost limit exceeded") {
		return false, errTooCostly
	}
	if err != nil {
		return false, err
	}
	holds, isBool := value.Value().(bool)
	if !isBool {
		return false, errNotBool
	}
	return holds, nil
}

func orEmpty(values map[string]string) map[string]string {
	if values == nil {
		return map[string]string{}
	}
	return values
}

// usesOf finds what an expression reads.
func usesOf(checked *ast.AST) Uses {
	var uses Uses
	selected := map[int64]bool{} // identifiers of which only a field is read
	ast.PostOrderVisit(checked.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.SelectKind || e.AsSelect().Operand().Kind() != ast.IdentKind {
			return
		}
		operand := e.AsSelect().Operand()
		selected[operand.ID()] = true
		uses |= fieldUses[operand.AsIdent()+"."+e.AsSelect().FieldName()]
	}))
	ast.PostOrderVisit(checked.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch {
		case e.Kind() != ast.IdentKind:
		case e.AsIdent() == variableConfig:
			uses |= UsesConfig
		case !selected[e.ID()]:
			uses |= variableUses[e.AsIdent()]
		}
	}))
	return uses
}

var (
	fieldUses = map[string]Uses{
		"cluster.labels": UsesLabels, "cluster.claims": UsesClaims, "cluster.version": UsesKubernetes,
		"addOn.labels": UsesAddOn, "addOn.annotations": UsesAddOn,
	}
	variableUses = map[string]Uses{
		variableCluster: UsesLabels | UsesClaims | UsesKubernetes, variableAddOn: UsesAddOn,
	}
)
