// Package configurer sets variables of add-ons as their dependents request. It keeps one AddOnDeploymentConfig for each
// ManagedClusterAddOn that refers to it, and writes nothing else. Any component may have created the ManagedClusterAddOn.
package configurer

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/settings"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/firstpass"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/kube/controllers"
	"open-cluster-management.io/interlock/pkg/kube/trigger"
)

// Reconciler keeps the AddOnDeploymentConfigs that ManagedClusterAddOns refer to by Interlock's name.
type Reconciler struct {
	Clock        clock.PassiveClock
	Fleet        hubcache.Reader
	Declarations *declarations.Store
	Requests     *RequestStore
	// Changes finds the add-ons that changed AddOnDeploymentConfigs concern.
	Changes *Changes
	// Outcomes has the outcome of the requests, for messages of the dependents. Evaluate enqueues them in the controller that
	// writes their conditions.
	Outcomes *hubcache.Settings
	Evaluate *trigger.Trigger
	Live     client.Reader
	Writer   client.Writer
	Recorder events.EventRecorder
	// FirstPass ends after this leader has assessed each add-on. It is nil if that is not awaited.
	FirstPass *firstpass.Pass

	// pace limits the rate of writes of this process. All that has to outlive it is in the annotation of the AddOnDeploymentConfig.
	pace    settings.Pace
	emitted emitted
	// paused has the end of the pause of add-ons whose settings are given up or change all the time, as in the last event.
	paused map[types.NamespacedName]time.Time
}

// Reconcile writes the AddOnDeploymentConfig of one add-on on one managed cluster, if it differs.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	key, now := request.NamespacedName, r.Clock.Now()
	evaluator, err := r.Declarations.Wait(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	if !r.FirstPass.Await(key.Namespace, r.Requests.Changed, key) {
		return reconcile.Result{}, nil
	}
	addOn, err := r.Fleet.AddOn(ctx, key)
	if err != nil {
		return reconcile.Result{}, err
	}
	requests, ok, complete := r.Requests.Get(key)
	if addOn == nil || !addOn.DeletionTimestamp.IsZero() {
		r.forget(key)
		if addOn != nil {
			r.publish(key, requests, settings.Outcome{})
		}
		return reconcile.Result{}, nil
	}
	if reached, err := r.isReached(ctx, key.Namespace); err != nil || !reached {
		r.publishFirst(key, requests)
		return reconcile.Result{}, err // the return of the cluster enqueues its add-ons
	}
	switch {
	case !ok || len(requests) == 0 && !concerns(addOn):
		r.publishFirst(key, requests)
		return reconcile.Result{}, nil
	case !evaluator.Registered(key.Name):
		r.publish(key, requests, settings.Outcome{Obstacle: settings.NotRegistered})
		return reconcile.Result{}, nil
	}
	if len(requests) == 0 && !fleet.RefersToSettings(addOn) { // thousands of installed add-ons have no settings, so nothing is read for them
		r.report(key, findings{})
		return reconcile.Result{}, nil
	}
	config, obstruction, err := r.read(ctx, key)
	switch {
	case err != nil:
		return reconcile.Result{}, err
	case config == nil || obstruction.obstacle != settings.NoObstacle:
		r.report(key, findings{requests: requests, problem: obstruction, awaited: config.awaited()})
		return reconcile.Result{}, nil
	case config.config != nil && !complete:
		r.publishFirst(key, requests)
		return reconcile.Result{}, nil // the stored settings stay meanwhile
	}
	agreed := settings.Agree(requests)
	result, paused, err := r.settle(ctx, config, agreed, now)
	if refused := refusal(config, err); err == nil || refused.obstacle != settings.NoObstacle { // any other error keeps the events as they are
		r.report(key, findings{requests: requests, agreed: agreed, problem: refused, awaited: config.awaited(), paused: paused})
	}
	return result, err
}

// concerns reports whether an add-on may have settings: Interlock has installed it, or it refers to the
// AddOnDeploymentConfig that Interlock keeps for it.
func concerns(addOn *addonv1alpha1.ManagedClusterAddOn) bool {
	return fleet.InstalledByInterlock(addOn) || fleet.RefersToSettings(addOn)
}

// isReached reports whether a managed cluster is available.
func (r *Reconciler) isReached(ctx context.Context, name string) (bool, error) {
	cluster, err := r.Fleet.Cluster(ctx, name)
	return cluster != nil && fleet.ClusterStatus(cluster) == metav1.ConditionTrue, err
}

// settle writes the settings that the dependents agree on. It does not if another writer undoes them, or if they change
// all the time. Then it returns the obstacle that lasts until the end of the pause.
func (r *Reconciler) settle(
	ctx context.Context, config *managedConfig, agreed settings.Agreed, now time.Time,
) (reconcile.Result, settings.Obstacle, error) {
	key := client.ObjectKeyFromObject(config.addOn)
	content := settings.Make(agreed, config.state())
	if !content.Changed && config.owned() {
		return reconcile.Result{}, settings.NoObstacle, nil
	}
	if until := content.Written.Undone.GivenUp(now); !until.IsZero() {
		r.reportGivenUp(key, until) // a former leader may have ended before it emitted the event
		return controllers.At(until, now), settings.GivenUp, nil
	}
	if until, pause := r.pace.Wait(key, now); pause > 0 {
		r.reportUnsteady(config, until, pause)
		if pause < settings.Noticed {
			return controllers.At(until, now), settings.NoObstacle, nil
		}
		return controllers.At(until, now), settings.Unsteady, nil
	}
	content.Written.Undone = content.Written.Undone.Next(now, content.Undone)
	if until := content.Written.Undone.GivenUp(now); !until.IsZero() {
		if err := r.giveUp(ctx, config, content.Written.Undone); err != nil {
			return reconcile.Result{}, settings.NoObstacle, err
		}
		r.reportGivenUp(key, until)
		return controllers.At(until, now), settings.GivenUp, nil
	}
	desired := client.ApplyConfigurationFromUnstructured(config.desired(content))
	if err := r.Writer.Apply(ctx, desired, fieldOwner, client.ForceOwnership); err != nil {
		return reconcile.Result{}, settings.NoObstacle, fmt.Errorf("apply AddOnDeploymentConfig %s/%s: %w", key.Namespace, fleet.SettingsConfigName(key.Name), err)
	}
	r.pace.Changed(key, now)
	log.FromContext(ctx).Info("AddOnDeploymentConfig written with the settings that dependents request", "cluster", key.Namespace, "addOn", key.Name,
		"variables", content.Written.Variables, "putBack", content.Undone)
	return reconcile.Result{}, settings.NoObstacle, nil
}

// giveUp stores that the settings of an add-on are given up, and leaves them as they are. The write fails if the object has changed since
// it was read.
func (r *Reconciler) giveUp(ctx context.Context, config *managedConfig, record settings.Undone) error {
	patch := client.MergeFromWithOptions(config.config, client.MergeFromWithOptimisticLock{})
	if err := r.Writer.Patch(ctx, config.givenUp(record), patch, fieldOwner); err != nil {
		return fmt.Errorf("store in AddOnDeploymentConfig %s that its settings are given up: %w", client.ObjectKeyFromObject(config.config), err)
	}
	return nil
}

func (r *Reconciler) forget(addOn types.NamespacedName) {
	r.pace.Forget(addOn)
	delete(r.paused, addOn)
	r.emitted.forget(addOn)
	r.Outcomes.Forget(addOn)
	r.Changes.setDisplaced(types.NamespacedName{}, addOn)
}

// problem is the reason why no setting of an add-on is set, with its description. It is zero if there is none.
type problem struct {
	obstacle    settings.Obstacle
	description string
}

// read reads the AddOnDeploymentConfig of an add-on with its inputs. The obstruction is the reason why Interlock may not write
// it. The result is nil if the add-on is not installed or not registered.
func (r *Reconciler) read(ctx context.Context, key types.NamespacedName) (config *managedConfig, obstruction problem, err error) {
	config = &managedConfig{addOn: &addonv1alpha1.ManagedClusterAddOn{}}
	if err := r.Live.Get(ctx, key, config.addOn); err != nil {
		return nil, problem{}, client.IgnoreNotFound(err)
	}
	registered := &addonv1alpha1.ClusterManagementAddOn{}
	if err := r.Live.Get(ctx, types.NamespacedName{Name: key.Name}, registered); err != nil {
		return nil, problem{}, client.IgnoreNotFound(err)
	}
	own := types.NamespacedName{Namespace: key.Namespace, Name: fleet.SettingsConfigName(key.Name)}
	if config.config, err = r.config(ctx, own); err != nil {
		return nil, problem{}, err
	}
	displaced, ok := supported(registered)
	switch configs := referenced(config.addOn); {
	case !ok:
		return config, problem{
			settings.NotSupported, "its ClusterManagementAddOn does not list addondeploymentconfigs in spec.supportedConfigs",
		}, nil
	case len(configs) != 1 || configs[0] != own:
		return config, problem{settings.NotReferred, fmt.Sprintf("spec.configs of its ManagedClusterAddOn does not refer to "+
			"AddOnDeploymentConfig '%s' alone. Where it does, Interlock keeps the settings there", own)}, nil
	}
	r.Changes.setDisplaced(displaced, key)
	if displaced != (types.NamespacedName{}) {
		config.displaced, err = r.config(ctx, displaced)
		switch {
		case err != nil:
			return nil, problem{}, err
		case config.displaced == nil: // an empty one in its place would move agents, and remove their registries
			return config, problem{
				settings.DefaultMissing,
				fmt.Sprintf("its default AddOnDeploymentConfig '%s' is not found. What is set stays as it is until then", displaced),
			}, nil
		}
	}
	if config.config != nil && !madeByInterlock(config.config) {
		return config, problem{settings.NotOwned, fmt.Sprintf("AddOnDeploymentConfig '%s' is not Interlock's", own.Name)}, nil
	}
	return config, problem{}, nil
}

// config reads the stored AddOnDeploymentConfig. It is unstructured, because a Go type does not distinguish an empty field
// from a missing field. The result is nil if the object does not exist.
func (r *Reconciler) config(ctx context.Context, key types.NamespacedName) (*unstructured.Unstructured, error) {
	config := &unstructured.Unstructured{}
	config.SetGroupVersionKind(configKind)
	switch err := r.Live.Get(ctx, key, config); {
	case client.IgnoreNotFound(err) != nil:
		return nil, fmt.Errorf("read AddOnDeploymentConfig %s: %w", key, err)
	case err != nil:
		return nil, nil //nolint:nilerr,nilnil // there is none
	}
	return config, nil
}

var configKind = addonv1alpha1.GroupVersion.WithKind("AddOnDeploymentConfig")

// supported returns the default AddOnDeploymentConfig of an add-on, if any. The second result is false if the add-on
// supports none.
func supported(registration *addonv1alpha1.ClusterManagementAddOn) (types.NamespacedName, bool) {
	byDefault, _ := fleet.DefaultConfig(registration)
	return byDefault, fleet.TakesConfigs(registration)
}
