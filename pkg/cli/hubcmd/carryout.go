package hubcmd

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/deploy"
	"open-cluster-management.io/interlock/pkg/cli/doctor"
	"open-cluster-management.io/interlock/pkg/cli/hubcmd/applyset"
	"open-cluster-management.io/interlock/pkg/cli/hubcmd/hubrecord"
	"open-cluster-management.io/interlock/pkg/cli/hubcmd/preflight"
	"open-cluster-management.io/interlock/pkg/cli/hubcmd/rollout"
	"open-cluster-management.io/interlock/pkg/offline/hubrelease"
	"open-cluster-management.io/interlock/pkg/offline/manifest"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/text"
)

// carryOut writes: the images first, and the record before and after all objects.
func (a *application) carryOut(ctx context.Context) error {
	if err := a.push(ctx); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{a.createNamespace, a.begin, a.createPlacement, a.apply, a.waitUntilAvailable, a.prune} {
		if err := step(ctx); err != nil {
			return a.unfinished(err)
		}
	}
	return a.finish(ctx)
}

// unfinished adds to an error how to go on.
func (a *application) unfinished(err error) error {
	return fmt.Errorf("interlock %s is not installed completely: %w. Run the command again when this is repaired, or remove it: kubectl addon hub uninstall%s",
		a.next.Version, err, preflight.Elsewhere(a.namespace))
}

func (a *application) push(ctx context.Context) error {
	for i, target := range a.targets {
		if err := hubrelease.Push(ctx, a.client(), target, &a.images[i], func(read, total int64) {
			a.source.ShowProgress(fmt.Sprintf("Pushing %s: %d of %d MiB", target, read>>20, total>>20))
		}); err != nil {
			return err
		}
		fmt.Fprintf(a.Out, "%s was pushed.\n", target)
	}
	return nil
}

// createNamespace creates the namespace, and enforces restricted Pod Security in it, unless it exists. The namespace is no part of the
// set, and stays when Interlock is uninstalled.
func (a *application) createNamespace(ctx context.Context) error {
	if a.namespaceExists {
		return nil
	}
	err := a.hub.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: a.namespace, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}, client.FieldOwner(applyset.Tool))
	return client.IgnoreAlreadyExists(err)
}

// begin writes the record before the first object, so that no object is forgotten after an interruption.
func (a *application) begin(ctx context.Context) error { return a.next.Write(ctx, a.set) }

// createPlacement creates the Placement of all managed clusters for addon-agent, if the values name it and it does not exist.
func (a *application) createPlacement(ctx context.Context) error {
	facts := &preflight.Facts{}
	if err := a.loadPlacement(ctx, facts); err != nil || facts.Placement == nil || facts.Placement.Exists {
		return err
	}
	objects, err := manifest.Decode("global-placement.yaml", deploy.GlobalPlacement)
	if err != nil {
		return err
	}
	for i := range objects {
		object := objects[i].DeepCopy()
		if err := a.hub.Create(ctx, object, client.FieldOwner(applyset.Tool)); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("%s: %w", applyset.Describe(object), err)
		}
	}
	fmt.Fprintf(a.Out, "The Placement %s was created.\n", facts.Placement.Name)
	return nil
}

func (a *application) apply(ctx context.Context) error {
	for i, object := range a.rendered.Objects {
		a.source.ShowProgress(fmt.Sprintf("Applying objects: %d of %d", i, len(a.rendered.Objects)))
		if err := a.set.Apply(ctx, object, a.takeOwnership); err != nil {
			return fmt.Errorf("%s: %w", applyset.Describe(object), err)
		}
	}
	fmt.Fprintf(a.Out, "%s were applied.\n", text.Count(len(a.rendered.Objects), "object"))
	return nil
}

func (a *application) waitUntilAvailable(ctx context.Context) error {
	var deployments []string
	for _, object := range a.find("Deployment") {
		deployments = append(deployments, object.GetName())
	}
	return rollout.Poll(ctx, a.timeout, func(line string) { a.source.ShowProgress("Waiting: " + line) },
		rollout.Deployments(a.hub, a.namespace, deployments))
}

// prune deletes the objects that this version or these values do not have, and writes the record of the complete installation.
func (a *application) prune(ctx context.Context) error {
	members, err := a.set.Members(ctx, a.next.Kinds)
	if err != nil {
		return err
	}
	obsolete, kept := applyset.Obsolete(members, a.rendered.Objects)
	for _, member := range obsolete {
		if err := a.set.Delete(ctx, member); err != nil {
			return fmt.Errorf("%s: %w", member, err)
		}
		fmt.Fprintf(a.Out, "%s was deleted, because it is no longer needed.\n", member)
	}
	a.next.State, a.next.Kinds = hubrecord.Installed, applyset.KindsOf(a.rendered.Objects, kept...)
	return a.next.Write(ctx, a.set)
}

// settleTime is how long the checks may fail after the pods are ready: a replica has to lead, and the API server has to trust the
// webhook.
const settleTime = 30 * time.Second

// finish makes the checks of kubectl addon doctor, and prints the next steps.
func (a *application) finish(ctx context.Context) error {
	quiet := *a.source // the checks are repeated, and their warnings would be too
	quiet.ErrOut = nil
	var diagnosis *report.Diagnosis
	err := rollout.Poll(ctx, min(a.timeout, settleTime), a.source.ShowProgress, func(ctx context.Context) (bool, string, error) {
		latest, err := doctor.Diagnose(ctx, &quiet, a.namespace)
		if err != nil {
			return false, "", err
		}
		diagnosis = latest
		return a.isSettled(diagnosis), "Checking Interlock", nil
	})
	if diagnosis == nil {
		return fmt.Errorf("interlock %s is installed, and could not be checked: %w", a.next.Version, err)
	}
	if err := doctor.Write(a.Out, a.source, diagnosis); err != nil {
		return err
	}
	if diagnosis.Failed() {
		return fmt.Errorf("interlock %s is installed, and %w", a.next.Version, doctor.ErrUnwell)
	}
	fmt.Fprintf(a.Out, "\n%s\n", a.rendered.Notes)
	return nil
}

// isSettled reports whether no check fails, and the leader has installed the guard, unless the values turn it off.
func (a *application) isSettled(diagnosis *report.Diagnosis) bool {
	wantsGuard := a.next.Values["guard"] != "off"
	return !diagnosis.Failed() && !slices.ContainsFunc(diagnosis.Items, func(item report.CheckResult) bool {
		return wantsGuard && item.Check == doctor.GuardCheck && item.Status == report.CheckNote
	})
}
