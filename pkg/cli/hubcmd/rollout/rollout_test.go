package rollout

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func deployment(status appsv1.DeploymentStatus) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "d", Generation: 3},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To(int32(2)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "d"}},
		},
		Status: status,
	}
}

func TestDeployment(t *testing.T) {
	for name, test := range map[string]struct {
		status appsv1.DeploymentStatus
		want   string
	}{
		"not observed": {
			appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 2, UpdatedReplicas: 2, AvailableReplicas: 2},
			"has not been observed",
		},
		"old pods": {
			appsv1.DeploymentStatus{ObservedGeneration: 3, Replicas: 2, UpdatedReplicas: 1, AvailableReplicas: 2},
			"1 of 2 replicas are up to date",
		},
		"surplus pods": {
			appsv1.DeploymentStatus{ObservedGeneration: 3, Replicas: 3, UpdatedReplicas: 2, AvailableReplicas: 2},
			"1 old replicas are left",
		},
		"not ready": {
			appsv1.DeploymentStatus{ObservedGeneration: 3, Replicas: 2, UpdatedReplicas: 2, AvailableReplicas: 1},
			"1 of 2 replicas are available",
		},
		"done": {appsv1.DeploymentStatus{ObservedGeneration: 3, Replicas: 2, UpdatedReplicas: 2, AvailableReplicas: 2}, ""},
	} {
		if got := Deployment(deployment(test.status)); !strings.Contains(got, test.want) || (got == "") != (test.want == "") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func pod(labels map[string]string, state corev1.ContainerState) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "p", Labels: labels},
		Status:     corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{State: state}}},
	}
}

// The error of a timeout names why the pods do not run.
func TestTimeoutNamesThePod(t *testing.T) {
	waiting := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "no\nsuch image"}}
	hub := fake.NewClientBuilder().WithObjects(
		deployment(appsv1.DeploymentStatus{ObservedGeneration: 3, Replicas: 2, UpdatedReplicas: 2}), pod(map[string]string{"app": "d"}, waiting),
	).Build()
	var shown []string
	err := Poll(t.Context(), time.Millisecond, func(line string) { shown = append(shown, line) }, Deployments(hub, "n", []string{"d"}))
	const want = "d: 0 of 2 replicas are available; the pod p waits: ImagePullBackOff: no such image"
	if err == nil || err.Error() != "not done after 1ms: "+want {
		t.Errorf("%v", err)
	}
	if len(shown) == 0 || shown[0] != want {
		t.Errorf("shown: %q", shown)
	}
}

// A request at the moment of the timeout does not fail because of it.
func TestTimeoutDoesNotEndRequests(t *testing.T) {
	err := Poll(t.Context(), time.Millisecond, func(string) {}, func(ctx context.Context) (bool, string, error) {
		if _, limited := ctx.Deadline(); limited {
			return false, "", errors.New("the request has a deadline")
		}
		return false, "waits", nil
	})
	if err == nil || err.Error() != "not done after 1ms: waits" {
		t.Errorf("%v", err)
	}
}

func TestInterruptionIsNoTimeout(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	err := Poll(ctx, time.Hour, func(string) {}, func(context.Context) (bool, string, error) {
		cancel()
		return false, "waits", nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestJob(t *testing.T) {
	ended := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		Message: "addon-agent is not yet removed from cluster1", FinishedAt: metav1.Unix(100, 0),
	}}
	for name, test := range map[string]struct {
		condition batchv1.JobConditionType
		objects   []client.Object
		done      bool
		want      string
	}{
		"runs":   {"", nil, false, ""},
		"done":   {batchv1.JobComplete, nil, true, ""},
		"failed": {batchv1.JobFailed, nil, false, "the Job j failed: too often: kubectl -n n logs job/j shows its log"},
		"its log": {
			batchv1.JobFailed,
			[]client.Object{pod(map[string]string{batchv1.JobNameLabel: "j"}, ended)},
			false,
			"addon-agent is not yet removed from cluster1",
		},
	} {
		job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "j"}}
		if test.condition != "" {
			job.Status.Conditions = []batchv1.JobCondition{{Type: test.condition, Status: corev1.ConditionTrue, Message: "too often"}}
		}
		hub := fake.NewClientBuilder().WithObjects(append(test.objects, job)...).Build()
		done, _, err := Job(hub, "n", "j")(t.Context())
		if done != test.done || (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %t, %v", name, done, err)
		}
	}
}
