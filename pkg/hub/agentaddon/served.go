package agentaddon

import (
	"context"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/utils/clock"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// The first and the longest time between two looks at what the hub serves.
const (
	lookFirst = time.Second
	lookLast  = time.Minute
)

// needed is what the hub has to serve, by group and version.
var needed = map[string][]string{
	addonv1beta1.GroupVersion.String(): {"clustermanagementaddons", "managedclusteraddons", "addondeploymentconfigs"},
	clusterv1.GroupVersion.String():    {"managedclusters"},
	workv1.GroupVersion.String():       {"manifestworks"},
}

// resources is the part of discovery that is asked.
type resources interface {
	ServerResourcesForGroupVersion(groupVersion string) (*metav1.APIResourceList, error)
}

var _ resources = discovery.DiscoveryInterface(nil)

// missing returns what is needed and not served, empty when nothing is missing.
func missing(hub resources) (string, error) {
	var lacking []string
	for _, groupVersion := range []string{
		addonv1beta1.GroupVersion.String(), clusterv1.GroupVersion.String(), workv1.GroupVersion.String(),
	} {
		served, err := hub.ServerResourcesForGroupVersion(groupVersion)
		if err != nil && !apierrors.IsNotFound(err) {
			return "", fmt.Errorf("discover %s: %w", groupVersion, err)
		}
		for _, resource := range needed[groupVersion] {
			if err != nil || !serves(served, resource) {
				lacking = append(lacking, resource+" of "+groupVersion)
			}
		}
	}
	return strings.Join(lacking, ", "), nil
}

func serves(list *metav1.APIResourceList, resource string) bool {
	for _, served := range list.APIResources {
		if served.Name == resource {
			return true
		}
	}
	return false
}

// awaitServed waits until the hub serves all that is needed; it says what it
// waits for whenever that has changed. It fails only when the context ends.
func awaitServed(ctx context.Context, clock clock.Clock, hub resources) error {
	told := ""
	for pause := lookFirst; ; pause = min(2*pause, lookLast) {
		lacking, err := missing(hub)
		if err == nil && lacking == "" {
			return nil
		}
		if err != nil {
			lacking = err.Error()
		}
		if lacking != told {
			log.FromContext(ctx).Info("addon-agent cannot be deployed yet; it is tried again: the hub has to serve what is missing, as OCM 1.2 and newer do",
				"missing", lacking)
			told = lacking
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-clock.After(pause):
		}
	}
}
