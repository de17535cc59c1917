package consoleserver

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/fleet/follow"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/kube/apidiscovery"
	"open-cluster-management.io/interlock/pkg/kube/responsecache"
	"open-cluster-management.io/interlock/pkg/report/console"
)

// The rate limit of requests. Lists of a large fleet do not wait.
const (
	qps   = 50
	burst = 300
)

// trouble is the reason that viewers see while the hub cannot be watched. The log has the error, which may name objects that not all of
// them may see.
const trouble = "it does not respond, or refuses; the log of the console has the reason"

// keeper keeps the fleet current.
type keeper struct {
	config    *rest.Config
	scheme    *runtime.Scheme
	namespace string
	fleet     *console.Fleet
	overviews overviews
	// unwatched reads the objects that are not watched.
	unwatched *unwatched
}

func newKeeper(restConfig *rest.Config, scheme *runtime.Scheme, shown *console.Fleet, options Options) (*keeper, error) {
	config := fleet.SkipUnread(restConfig)
	config.QPS, config.Burst = qps, burst
	rarely := rest.CopyConfig(config)
	rarely.Timeout = 30 * time.Second
	rarely.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return &responsecache.Transport{Next: next, Lifetime: follow.RefreshInterval, Clock: clock.RealClock{}}
	})
	reader, err := client.New(rarely, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("create client of the hub: %w", err)
	}
	return &keeper{
		config: config, scheme: scheme, namespace: options.Namespace, fleet: shown, overviews: overviews{options.GroupBy},
		unwatched: &unwatched{reader, rarely, options.Namespace},
	}, nil
}

// Start implements manager.Runnable.
func (k *keeper) Start(ctx context.Context) error {
	logger := log.FromContext(ctx).WithName("console")
	follow.Keeper{
		Start: k.watch,
		Take: func(ctx context.Context, hub client.Reader) (*snapshot.Snapshot, error) {
			return snapshot.Take(ctx, hub, "")
		},
		Show: func(hub *snapshot.Snapshot) { k.fleet.Update(hub, k.overviews.options) },
		Trouble: func(reason error) {
			logger.Error(reason, "The hub cannot be watched")
			k.fleet.SetTrouble(trouble)
		},
	}.Run(ctx)
	return nil
}

// watch begins to watch all that verdicts depend on.
func (k *keeper) watch(ctx context.Context) (*follow.Hub, error) {
	hub, err := client.NewWithWatch(k.config, client.Options{Scheme: k.scheme})
	if err != nil {
		return nil, err
	}
	lists, err := follow.ServedLists(ctx, hub)
	if err != nil {
		return nil, err
	}
	watched, err := follow.Start(ctx, hub, lists, follow.Failures)
	if err != nil {
		return nil, err
	}
	watched.Reader = k.unwatched
	return watched, nil
}

// unwatched reads objects that are not watched, at most once in a refresh interval: kinds that the hub did not serve when the watch began,
// the version of Open Cluster Management, and the lease of addon-manager, which its leader renews every few seconds.
type unwatched struct {
	client.Reader

	config    *rest.Config
	namespace string
}

var _ snapshot.Discoverer = &unwatched{}

// List implements client.Reader. The console may read the lease in its own namespace only.
func (u *unwatched) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if list.GetObjectKind().GroupVersionKind().Kind == "LeaseList" {
		options = append(options, client.InNamespace(u.namespace))
	}
	return u.Reader.List(ctx, list, options...)
}

// Discovery implements snapshot.Discoverer.
func (u *unwatched) Discovery() (apidiscovery.API, error) {
	documents, err := discovery.NewDiscoveryClientForConfig(u.config)
	if err != nil {
		return apidiscovery.API{}, fmt.Errorf("create discovery client of the hub: %w", err)
	}
	return apidiscovery.API{REST: documents.RESTClient(), Client: "the console"}, nil
}
