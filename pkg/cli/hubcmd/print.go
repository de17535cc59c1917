package hubcmd

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/printers"

	"open-cluster-management.io/interlock/pkg/cli/hubcmd/applyset"
	"open-cluster-management.io/interlock/pkg/text"
)

// printPlan prints the objects with --output, or else one line for each object that would change.
func (a *application) printPlan(ctx context.Context, plan *applyset.Plan) error {
	if a.output != "" {
		return a.printObjects()
	}
	if plan == nil {
		return nil
	}
	for _, target := range a.targets {
		if a.unbuilt {
			fmt.Fprintf(a.Out, "push    %s\n", target.Context())
			continue
		}
		fmt.Fprintf(a.Out, "push    %s\n", target)
	}
	for _, step := range plan.Steps {
		if step.Action != applyset.Keep {
			fmt.Fprintf(a.Out, "%-7s %s\n", step.Action, step.Object)
		}
	}
	members, err := a.set.Members(ctx, a.earlier().Kinds)
	if err != nil {
		return err
	}
	obsolete, _ := applyset.Obsolete(members, a.rendered.Objects)
	for _, member := range obsolete {
		fmt.Fprintf(a.Out, "%-7s %s\n", applyset.Delete, member)
	}
	fmt.Fprintf(a.Out, "Nothing was written. %s would be created, %d changed, %d deleted, and %d stay as they are.\n",
		text.Count(plan.Count(applyset.Create), "object"), plan.Count(applyset.Change), len(obsolete), plan.Count(applyset.Keep))
	return nil
}

func (a *application) printObjects() error {
	list := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "v1", "kind": "List"}}
	for _, object := range a.rendered.Objects {
		list.Items = append(list.Items, *object)
	}
	if a.output == "json" {
		return (&printers.JSONPrinter{}).PrintObj(list, a.Out)
	}
	return (&printers.YAMLPrinter{}).PrintObj(list, a.Out)
}
