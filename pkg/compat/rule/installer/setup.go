package installer

import (
	"context"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	"open-cluster-management.io/interlock/pkg/compat/endpoint"
	"open-cluster-management.io/interlock/pkg/compat/rule"
	"open-cluster-management.io/interlock/pkg/kube/objectwatch"
)

// repairDelay is the minimum time between repairs of the rule while another writer keeps
// removing it.
const repairDelay = time.Second

// SetupWithManager registers the controller, which runs in the leader only.
func (i *Installer) SetupWithManager(mgr ctrl.Manager) error {
	i.applied = map[string]applied{}
	return objectwatch.SetupWithManager(mgr, i.Rule.Controller, i.Rule.Name, i, func(ctx context.Context, objects *objectwatch.Watches) error {
		i.watch = (&watches{ctx: ctx, name: i.Rule.Name, mode: i.Mode, objects: objects}).follow
		return nil
	})
}

// watches manages the watches of the objects that the mode needs.
type watches struct {
	// ctx is the context of the controller.
	ctx     context.Context
	name    string
	mode    Mode
	objects *objectwatch.Watches

	version string
	stop    context.CancelFunc
}

// follow watches policies in their served version. An empty version means that they are not served.
// It stops the watches in other versions, because they would retry without end.
func (w *watches) follow(version string) error {
	if w.mode == ModeOff || w.stop != nil && w.version == version {
		return nil
	}
	if w.stop != nil {
		w.stop()
	}
	ctx, stop := context.WithCancel(w.ctx)
	w.version, w.stop = version, stop
	for resource, name := range w.watched(version) {
		if err := w.objects.Watch(ctx, resource, types.NamespacedName{Name: name}, repairDelay); err != nil {
			return err
		}
	}
	return nil
}

func (w *watches) watched(version string) map[schema.GroupVersionResource]string {
	names := map[schema.GroupVersionResource]string{}
	if w.mode != ModeWebhook && version != "" {
		policies := schema.GroupVersion{Group: rule.Group, Version: version}
		names[policies.WithResource("mutatingadmissionpolicies")] = w.name
		names[policies.WithResource("mutatingadmissionpolicybindings")] = w.name
	}
	if w.mode != ModePolicy {
		webhooks := admissionregistrationv1.SchemeGroupVersion
		names[webhooks.WithResource("mutatingwebhookconfigurations")] = w.name
		names[webhooks.WithResource("validatingwebhookconfigurations")] = endpoint.ConfigurationName
	}
	return names
}
