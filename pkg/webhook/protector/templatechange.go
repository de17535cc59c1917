package protector

import (
	"context"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition/protection"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/fleet"
	eventsof "open-cluster-management.io/interlock/pkg/kube/events"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/pkg/text"
)

// TemplatePath is the path for reviews of AddOnTemplates.
const TemplatePath = "/protect-addontemplate"

// TemplateValidator reviews AddOnTemplates that are edited in place, or created after a registration named them. OCM rolls them out at
// once.
type TemplateValidator struct{ *fleetReviewer }

var _ admission.Handler = &TemplateValidator{}

// Handle implements admission.Handler.
func (v *TemplateValidator) Handle(ctx context.Context, request admission.Request) admission.Response {
	if request.Operation == admissionv1.Delete {
		return admission.Allowed("")
	}
	ctx, cancel := context.WithTimeout(ctx, fleetReviewTimeout)
	defer cancel()
	concern := fmt.Sprintf("add-ons contradict AddOnTemplate '%s'", text.Name(request.Name))
	oldTemplate, newTemplate := &addonv1alpha1.AddOnTemplate{}, &addonv1alpha1.AddOnTemplate{}
	if err := decodeBoth(request, oldTemplate, newTemplate); err != nil {
		return allowUnchecked(concern, err)
	}
	edited := editedTemplate{
		newTemplate: fleet.LeanTemplate(newTemplate), forceReason: newTemplate.Annotations[addonv1alpha1.ForceAnnotation],
	}
	if request.Operation == admissionv1.Update {
		edited.oldTemplate = fleet.LeanTemplate(oldTemplate)
	}
	review, err := v.review(ctx, edited)
	return v.respond(request, review, concern, err)
}

// editedTemplate is another state of an AddOnTemplate.
type editedTemplate struct {
	// oldTemplate is nil if the template is created.
	oldTemplate, newTemplate *addonv1alpha1.AddOnTemplate
	// forceReason is the value of the annotation that forces the rollout.
	forceReason string
}

// canBreak reports whether the edit can break any add-on. It reads nothing.
func (e editedTemplate) canBreak() bool {
	const dependencies = addonv1alpha1.TemplateDependenciesAnnotation
	return e.oldTemplate == nil || e.version(e.oldTemplate) != e.version(e.newTemplate) ||
		e.oldTemplate.Annotations[dependencies] != e.newTemplate.Annotations[dependencies]
}

func (editedTemplate) version(template *addonv1alpha1.AddOnTemplate) string {
	return versions.OfTemplate(template.Annotations, template.Labels)
}

// review reviews an AddOnTemplate on the managed clusters where OCM rolls it out.
func (v *TemplateValidator) review(ctx context.Context, edited editedTemplate) (outcome, error) {
	name := edited.newTemplate.Spec.AddonName
	if !edited.canBreak() || name == "" || name == names.AgentAddOn {
		return outcome{}, nil
	}
	evaluator, release, err := v.beginProtected(ctx)
	if err != nil || release == nil {
		return outcome{}, err
	}
	defer release()
	c := change{
		editedTemplate: &edited, oldEvaluator: evaluator, waitingEdges: protection.Broken{}, uncheckedEdges: protection.Unchecked{},
	}
	overrides := templateOverrides{edited.newTemplate.Name: edited.newTemplate}
	if c.newEvaluator, err = v.declarations.loadChanged(ctx, evaluator.policies, nil, overrides); err != nil {
		return outcome{}, err
	}
	if !c.newEvaluator.Registered(name) || !protection.MayContradict(c.newEvaluator.Catalog, name) {
		return outcome{}, nil
	}
	var stored addonv1alpha1.ClusterManagementAddOn
	if err := v.live.Get(ctx, client.ObjectKey{Name: name}, &stored); err != nil {
		return outcome{}, client.IgnoreNotFound(err)
	}
	c.oldAddOn, c.newAddOn = &stored, &stored
	if edited.oldTemplate == nil { // a template waits by its name, so an edited one cannot wait
		if c.upgradesWait, err = v.upgradesWait(ctx, c.newEvaluator, name); err != nil {
			return outcome{}, err
		}
	}
	review, err := v.reviewInstalled(ctx, &c)
	review.object, review.kind, review.forceReason = &stored, eventsof.ClusterManagementAddOn, edited.forceReason
	review.subject = fmt.Sprintf("AddOnTemplate '%s' of add-on '%s'", text.Name(edited.newTemplate.Name), text.Name(name))
	return review, err
}

// rollOut returns a managed cluster with the AddOnTemplate before and after the edit. The bool is false if OCM does not choose that
// template there.
func (e *editedTemplate) rollOut(cluster clusterReader, c *change) (rollout, bool) {
	addOn := cluster.addOns[c.newAddOn.Name]
	chosen, ok := fleet.TemplateOf(addOn, c.newAddOn, c.selections)
	if !ok || chosen != e.newTemplate.Name {
		return rollout{}, false
	}
	edited := cluster.withAddOn(fleet.WithTemplate(addOn, chosen))
	edited.overrides = templateOverrides{chosen: e.newTemplate}
	if e.oldTemplate == nil {
		return rollout{oldCluster: cluster, newCluster: edited, changesTemplate: true}, true
	}
	unedited := cluster.withAddOn(fleet.WithTemplate(addOn, chosen))
	unedited.overrides = templateOverrides{chosen: e.oldTemplate}
	return rollout{oldCluster: unedited, newCluster: edited, changesTemplate: true}, true
}
