package protection

import (
	"context"
	"errors"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/protection"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
	eventsof "open-cluster-management.io/interlock/pkg/events"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/pkg/text"
)

// TemplatePath is the path at which AddOnTemplates are reviewed.
const TemplatePath = "/protect-addontemplate"

// TemplateValidator reviews AddOnTemplates that are edited in place, and those that are created after a registration named them: OCM
// rolls both out at once.
type TemplateValidator struct{ *fleetReviewer }

var _ admission.Handler = &TemplateValidator{}

// Handle implements admission.Handler.
func (v *TemplateValidator) Handle(ctx context.Context, request admission.Request) admission.Response {
	if request.Operation == admissionv1.Delete {
		return admission.Allowed("")
	}
	ctx, cancel := context.WithTimeout(ctx, answerForFleetWithin)
	defer cancel()
	what := fmt.Sprintf("add-ons contradict AddOnTemplate '%s'", text.Name(request.Name))
	before, after := &addonv1alpha1.AddOnTemplate{}, &addonv1alpha1.AddOnTemplate{}
	if err := errors.Join(decode(request.OldObject.Raw, before), decode(request.Object.Raw, after)); err != nil {
		return unchecked(what, err)
	}
	edited := editedTemplate{after: fleet.LeanTemplate(after), forced: after.Annotations[addonv1alpha1.ForceAnnotation]}
	if request.Operation == admissionv1.Update {
		edited.before = fleet.LeanTemplate(before)
	}
	review, err := v.review(ctx, edited)
	return v.respond(request, review, what, err)
}

// editedTemplate is another state of an AddOnTemplate.
type editedTemplate struct {
	// before is nil where the template is created.
	before, after *addonv1alpha1.AddOnTemplate
	// forced is why it is rolled out nevertheless, as its annotation says.
	forced string
}

// concerns reports whether the edit can break anything, without reading anything.
func (e editedTemplate) concerns() bool {
	return e.before == nil || e.version(e.before) != e.version(e.after) ||
		e.before.Annotations[addonv1alpha1.TemplateDependenciesAnnotation] != e.after.Annotations[addonv1alpha1.TemplateDependenciesAnnotation]
}

func (editedTemplate) version(template *addonv1alpha1.AddOnTemplate) string {
	return versions.OfTemplate(template.Annotations, template.Labels)
}

// review finds what contradicts an AddOnTemplate on the managed clusters where OCM rolls it out.
func (v *TemplateValidator) review(ctx context.Context, edited editedTemplate) (found, error) {
	name := edited.after.Spec.AddonName
	if !edited.concerns() || name == "" || name == names.AgentAddOn {
		return found{}, nil
	}
	under, done, err := v.beginProtected(ctx)
	if done == nil {
		return found{}, err
	}
	defer done()
	c := change{edited: &edited, before: under, waiting: protection.Broken{}, unchecked: protection.Unchecked{}}
	if c.after, err = v.declared.with(ctx, under.policies, nil, newTemplates{edited.after.Name: edited.after}); err != nil {
		return found{}, err
	}
	if !c.after.Registered(name) || !protection.MayContradict(c.after.Catalog, name) {
		return found{}, nil
	}
	var stored addonv1alpha1.ClusterManagementAddOn
	if err := v.live.Get(ctx, client.ObjectKey{Name: name}, &stored); err != nil {
		return found{}, client.IgnoreNotFound(err)
	}
	c.was, c.is = &stored, &stored
	if edited.before == nil { // the rule that lets a template wait knows it by its name
		if c.held, err = v.holds(ctx, c.after, name); err != nil {
			return found{}, err
		}
	}
	review, err := v.reviewOnClusters(ctx, &c)
	review.object, review.kind, review.forced = &stored, eventsof.ClusterManagementAddOn, edited.forced
	review.does = fmt.Sprintf("AddOnTemplate '%s' of add-on '%s'", text.Name(edited.after.Name), text.Name(name))
	return review, err
}

// rolledOut returns a managed cluster with the AddOnTemplate before and after it was edited; known is false where OCM does not choose
// that template.
func (e *editedTemplate) rolledOut(as clusterReader, c *change) (was, is clusterReader, another, known bool) {
	addOn := as.addOns[c.is.Name]
	chosen, known := fleet.TemplateOf(addOn, c.is, c.selecting)
	if !known || chosen != e.after.Name {
		return as, as, false, false
	}
	was, is = as, as.with(fleet.WithTemplate(addOn, chosen))
	is.changed = newTemplates{chosen: e.after}
	if e.before != nil {
		was = as.with(fleet.WithTemplate(addOn, chosen))
		was.changed = newTemplates{chosen: e.before}
	}
	return was, is, true, true
}
