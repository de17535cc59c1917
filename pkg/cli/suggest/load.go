package suggest

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ocmaddonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/suggestion"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/text"
)

// page is how many templates or works are read at once. One has up to 1.5 MiB.
const page = 20

// loaded are the workloads of all add-ons.
type loaded struct {
	workloads []suggestion.Workload
	// images are those of AddOnTemplates, by name, empty for a template without a workload.
	images map[string]string
	// worksUnread is why ManifestWorks could not be read; nil: they could.
	worksUnread error
	// wrong describes manifests that cannot be read.
	wrong []string
}

// load reads the templates of add-ons, and the works of those without one, where they are
// installed first. The works of an add-on are much the same on all managed clusters.
func load(ctx context.Context, hub client.Reader, installed []addonv1alpha1.ManagedClusterAddOn) (*loaded, error) {
	read := loaded{images: map[string]string{}}
	done := map[string]bool{}
	if err := snapshot.Each(ctx, hub, "addontemplates", "", func(list *ocmaddonv1alpha1.AddOnTemplateList) {
		for i := range list.Items {
			template := &list.Items[i]
			done[template.Spec.AddonName] = true
			read.add(template.Spec.AddonName, "AddOnTemplate "+text.Name(template.Name), template.Spec.AgentSpec.Workload.Manifests)
			read.images[template.Name], _ = suggestion.Image(read.workloads[len(read.workloads)-1].Manifests)
		}
	}, client.Limit(page)); err != nil {
		return nil, err
	}
	for i := range installed {
		addOn := &installed[i]
		if done[addOn.Name] {
			continue
		}
		done[addOn.Name] = true
		err := snapshot.Each(ctx, hub, "manifestworks", addOn.Namespace, func(list *workv1.ManifestWorkList) {
			for j := range list.Items {
				work := &list.Items[j]
				read.add(addOn.Name, fmt.Sprintf("ManifestWork %s/%s", work.Namespace, text.Name(work.Name)), work.Spec.Workload.Manifests)
			}
		}, client.MatchingLabels{ocmaddonv1alpha1.AddonLabelKey: addOn.Name}, client.Limit(page))
		switch {
		case apierrors.IsForbidden(err):
			read.worksUnread = err
		case err != nil:
			return nil, err
		}
	}
	return &read, nil
}

func (l *loaded) add(addOn, source string, manifests []workv1.Manifest) {
	decoded, wrong := decode(source, manifests)
	l.wrong = append(l.wrong, wrong...)
	l.workloads = append(l.workloads, suggestion.Workload{AddOn: addOn, Source: source, Manifests: decoded})
}

// decode returns the manifests of an object, and describes those that cannot be read.
func decode(source string, manifests []workv1.Manifest) (decoded []unstructured.Unstructured, wrong []string) {
	for i := range manifests {
		var manifest unstructured.Unstructured
		if err := manifest.UnmarshalJSON(manifests[i].Raw); err != nil {
			wrong = append(wrong, text.OneLine(fmt.Sprintf("skipped manifest %d of %s: %v", i, source, err)))
			continue
		}
		decoded = append(decoded, manifest)
	}
	return decoded, wrong
}
