package placement

import (
	"errors"
	"fmt"
	"slices"

	"github.com/google/cel-go/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"open-cluster-management.io/sdk-go/pkg/cel/common"
	"open-cluster-management.io/sdk-go/pkg/cel/library"
)

// errScores is the error for an expression that reads scores, because only the hub knows them.
var errScores = errors.New("reads AddOnPlacementScores, which are not read here: the hub alone decides")

// expression is a compiled expression of a celSelector.
type expression struct{ program cel.Program }

// compileExpressions compiles expressions with OCM's own library and limits.
func compileExpressions(sources []string) ([]expression, error) {
	if len(sources) == 0 {
		return nil, nil
	}
	options := []cel.EnvOption{library.ManagedClusterLib(nil), library.JsonLib()}
	env, err := cel.NewEnv(slices.Concat(options, common.BaseEnvOpts)...)
	if err != nil {
		return nil, fmt.Errorf("celExpressions: %w", err)
	}
	compiled := make([]expression, 0, len(sources))
	for i, source := range sources {
		ast, issues := env.Compile(source)
		if issues.Err() != nil {
			return nil, fmt.Errorf("celExpressions[%d]: %w", i, issues.Err())
		}
		for _, reference := range ast.NativeRep().ReferenceMap() {
			if slices.Contains(reference.OverloadIDs, "cluster_scores") {
				return nil, fmt.Errorf("celExpressions[%d]: %w", i, errScores)
			}
		}
		program, err := env.Program(ast, cel.CostLimit(celconfig.PerCallLimit), cel.InterruptCheckFrequency(celconfig.CheckFrequency),
			cel.CostTracking(&common.BaseEnvCostEstimator{CostEstimator: &library.CostEstimator{}}))
		if err != nil {
			return nil, fmt.Errorf("celExpressions[%d]: %w", i, err)
		}
		compiled = append(compiled, expression{program})
	}
	return compiled, nil
}

// allMatch reports whether all expressions are true for a cluster. A failing expression counts as
// false, as in OCM.
func allMatch(expressions []expression, cluster *clusterv1.ManagedCluster) (bool, error) {
	if len(expressions) == 0 {
		return true, nil
	}
	object, err := common.ConvertObjectToUnstructured(cluster)
	if err != nil {
		return false, fmt.Errorf("managed cluster %s: %w", cluster.Name, err)
	}
	for _, compiled := range expressions {
		result, _, err := compiled.program.Eval(map[string]any{"managedCluster": object.Object})
		if err != nil {
			return false, nil //nolint:nilerr // such as a label that the cluster does not have
		}
		if matches, ok := result.Value().(bool); !ok || !matches {
			return false, nil
		}
	}
	return true, nil
}
