// Package rollout waits until Deployments of a hub are available, and until Jobs end.
package rollout

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/text"
)

// interval is the time between two looks at the hub.
const interval = 500 * time.Millisecond

// Poll calls done until it returns true, or an error, or until the timeout. The error of a timeout has the last state.
func Poll(ctx context.Context, timeout time.Duration, show func(line string), done func(context.Context) (bool, string, error)) error {
	state := ""
	err := wait.PollUntilContextTimeout(ctx, interval, timeout, true, func(context.Context) (bool, error) {
		ok, line, err := done(ctx) // without the timeout, which would make the last request fail with an error of its own
		if line != "" {
			state = line
			show(line)
		}
		return ok, err
	})
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("not done after %s: %s", timeout, state)
	}
	return err
}

// Deployment describes the replicas that a Deployment waits for. It returns an empty text if all replicas are up to date and available.
func Deployment(deployment *appsv1.Deployment) string {
	want, status := ptr.Deref(deployment.Spec.Replicas, 1), deployment.Status
	switch {
	case status.ObservedGeneration < deployment.Generation:
		return deployment.Name + " has not been observed yet"
	case status.UpdatedReplicas < want:
		return fmt.Sprintf("%s: %d of %d replicas are up to date", deployment.Name, status.UpdatedReplicas, want)
	case status.Replicas > status.UpdatedReplicas:
		return fmt.Sprintf("%s: %d old replicas are left", deployment.Name, status.Replicas-status.UpdatedReplicas)
	case status.AvailableReplicas < want:
		return fmt.Sprintf("%s: %d of %d replicas are available", deployment.Name, status.AvailableReplicas, want)
	default:
		return ""
	}
}

// Deployments returns a function for Poll that waits for Deployments of a namespace.
func Deployments(hub client.Reader, namespace string, names []string) func(context.Context) (bool, string, error) {
	return func(ctx context.Context) (bool, string, error) {
		for _, name := range names {
			deployment := &appsv1.Deployment{}
			if err := hub.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, deployment); err != nil {
				return false, "", err
			}
			if waits := Deployment(deployment); waits != "" {
				return false, waits + podProblem(ctx, hub, namespace, deployment.Spec.Selector), nil
			}
		}
		return true, "", nil
	}
}

// podProblem describes why a container of the selected pods does not run. It returns an empty text if it finds no reason.
func podProblem(ctx context.Context, hub client.Reader, namespace string, selector *metav1.LabelSelector) string {
	selected, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return ""
	}
	pods := &corev1.PodList{}
	if err := hub.List(ctx, pods, client.InNamespace(namespace), client.MatchingLabelsSelector{Selector: selected}); err != nil {
		return "" // without the right to list pods, the state of the Deployment has to do
	}
	for i := range pods.Items {
		for _, status := range pods.Items[i].Status.ContainerStatuses {
			waiting := status.State.Waiting
			if waiting == nil || waiting.Reason == "ContainerCreating" {
				continue
			}
			return text.OneLine(fmt.Sprintf("; the pod %s waits: %s: %s", pods.Items[i].Name, waiting.Reason, waiting.Message))
		}
	}
	return ""
}

// JobFailedError is the error of a Job that has failed. Its log says more.
type JobFailedError struct {
	Namespace, Name, Message string
}

func (e *JobFailedError) Error() string {
	return fmt.Sprintf("the Job %s failed: %s: kubectl -n %s logs job/%s shows its log", e.Name, e.Message, e.Namespace, e.Name)
}

// Job returns a function for Poll that waits for the end of a Job.
func Job(hub client.Reader, namespace, name string) func(context.Context) (bool, string, error) {
	return func(ctx context.Context) (bool, string, error) {
		job := &batchv1.Job{}
		if err := hub.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, job); err != nil {
			return false, "", err
		}
		for _, condition := range job.Status.Conditions {
			switch {
			case condition.Status != corev1.ConditionTrue:
			case condition.Type == batchv1.JobComplete:
				return true, "", nil
			case condition.Type == batchv1.JobFailed:
				return false, "", &JobFailedError{namespace, name, jobMessage(ctx, hub, job, condition.Message)}
			}
		}
		line := fmt.Sprintf("the Job %s runs: %d failed attempts", name, job.Status.Failed)
		if job.Spec.Selector != nil {
			line += podProblem(ctx, hub, namespace, job.Spec.Selector)
		}
		return false, line, nil
	}
}

// jobMessage returns the last words of the Job's pods, or else the message of the Job.
func jobMessage(ctx context.Context, hub client.Reader, job *batchv1.Job, message string) string {
	pods := &corev1.PodList{}
	if err := hub.List(ctx, pods, client.InNamespace(job.Namespace), client.MatchingLabels{batchv1.JobNameLabel: job.Name}); err != nil {
		return message
	}
	var last time.Time
	for i := range pods.Items {
		for _, status := range pods.Items[i].Status.ContainerStatuses {
			if ended := status.State.Terminated; ended != nil && ended.Message != "" && ended.FinishedAt.After(last) {
				last, message = ended.FinishedAt.Time, ended.Message
			}
		}
	}
	return text.OneLine(message)
}
