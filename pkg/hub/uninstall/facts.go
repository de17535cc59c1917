package uninstall

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
)

// factsRemover deletes all ManagedClusterFacts. Their CRD is deleted by the tool
// that deployed it.
type factsRemover struct {
	hub client.Client
}

func (r *factsRemover) run(ctx context.Context) (string, error) {
	deleted, err := deleteAll(ctx, r.hub, dependencyv1alpha1.Kind, client.ListOptions{})
	if err != nil && !meta.IsNoMatchError(err) && !apierrors.IsNotFound(err) {
		return "", err
	}
	return fmt.Sprintf("%d ManagedClusterFacts deleted", deleted), nil
}
