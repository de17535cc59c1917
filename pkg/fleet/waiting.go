package fleet

import (
	"context"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
)

// Waiting is an installation or an upgrade of an add-on that waits for dependencies.
type Waiting struct {
	AddOn string
	Kind  dependencyv1alpha1.WaitKind
	// Running is the AddOnTemplate that runs while an upgrade waits, and Template is the waiting AddOnTemplate. They are empty if there is
	// none, or if it is unknown.
	Running, Template Template
	Since             metav1.Time
}

// Template is an AddOnTemplate with its version, if any.
type Template struct{ Name, Version string }

// WaitingOf returns the waiting installation or upgrade of an add-on, if any, without the versions of templates.
func WaitingOf(addOn *addonv1alpha1.ManagedClusterAddOn) (Waiting, bool) {
	if GateClosed(addOn) {
		since := addOn.CreationTimestamp
		if installable := Installable(addOn); installable != nil {
			since = installable.LastTransitionTime
		}
		return Waiting{
			AddOn: addOn.Name, Kind: dependencyv1alpha1.WaitInstallation, Since: since, Template: Template{Name: TemplatesOf(addOn).RollingOut},
		}, true
	}
	template := WaitingTemplate(addOn)
	if template == "" {
		return Waiting{}, false
	}
	return Waiting{
		AddOn: addOn.Name, Kind: dependencyv1alpha1.WaitUpgrade, Since: Upgradable(addOn).LastTransitionTime,
		Running: Template{Name: TemplatesOf(addOn).Running}, Template: Template{Name: template},
	}, true
}

// Waiting returns the waiting installations and upgrades of these add-ons of a managed cluster, sorted by add-on.
func (l Loader) Waiting(ctx context.Context, cluster string, addOns []string) ([]Waiting, error) {
	var waits []Waiting
	for _, name := range addOns {
		addOn, err := l.Reader.AddOn(ctx, types.NamespacedName{Namespace: cluster, Name: name})
		if err != nil {
			return nil, err
		}
		if addOn == nil {
			continue
		}
		waiting, ok := WaitingOf(addOn)
		if !ok {
			continue
		}
		for _, template := range []*Template{&waiting.Running, &waiting.Template} {
			if template.Name == "" {
				continue
			}
			if template.Version, _, err = l.Reader.TemplateVersion(ctx, template.Name); err != nil {
				return nil, err
			}
		}
		waits = append(waits, waiting)
	}
	slices.SortFunc(waits, func(a, b Waiting) int { return strings.Compare(a.AddOn, b.AddOn) })
	return waits, nil
}
