package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/text"
	"open-cluster-management.io/interlock/pkg/webhook/protector"
	"open-cluster-management.io/interlock/test/benchmark/result"
	"open-cluster-management.io/interlock/test/benchmark/simulator"
)

const (
	removalsMethod = `addon-manager webhook runs as a process, with --protection=enforce and the memory limit of deploy/hub. It gets ` +
		`the requests for reviews that the API server would send. First, the ClusterManagementAddOn of an add-on is to be ` +
		`deleted that add-ons on all clusters require, twice. The time runs from the request to the answer, which has to be ` +
		`a refusal that counts all of them. It is compared with a process that reads the lists of add-ons and managed clusters in pages, as in 13. ` +
		`The API server waits for 5 s, which is a bound for up to 100,000 add-ons. ` +
		`Then 32 clients send requests for 10 s, each as soon as it has the answer to the one before: to delete add-ons, on ` +
		`random clusters, that installed add-ons require. Only refusals count as reviews. An answer that something was not ` +
		`checked lets the deletion pass. At last, requests arrive for 5 s, three times as many as the webhook has reviewed in that time before, and at most 200 are ` +
		`sent at a time, as an API server does by default: first to delete an add-on that no other has an edge on, then to delete add-ons that others require. Each has to be ` +
		`answered within the second that the API server waits. More than can be reviewed are answered that they were not ` +
		`checked. The API server, its etcd, the webhook and the clients share the processors of the machine. ` +
		`The peaks of memory are those of the process of the webhook.`
	fleetReviewBound      = 5.0 // seconds
	fleetReviewListsBound = 1.0
)

func removals(ctx context.Context, s *session, results *result.Scenario) error {
	for range s.repetitions {
		if err := s.removalsOnce(ctx, results); err != nil {
			return err
		}
	}
	return nil
}

// removalsOnce starts its own webhook, so that the peak of its memory does not include an earlier repetition.
func (s *session) removalsOnce(ctx context.Context, results *result.Scenario) (err error) {
	webhook, err := s.fleet.Hub.StartWebhook(ctx, filepath.Join(s.bin, "addon-manager"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, webhook.Stop(ctx)) }()
	if err := s.reviewFleet(ctx, webhook, results); err != nil {
		return err
	}
	if err := addPeak(results, "peak memory, review of the CMA", webhook); err != nil {
		return err
	}
	removals, err := s.removalsOf(ctx, s.neededAddOns())
	if err != nil {
		return err
	}
	reviews, err := s.reviewMany(ctx, webhook, removals, results)
	if err != nil {
		return err
	}
	if err := s.reviewAtRate(ctx, webhook, removals, max(1, int(removalsPerReview*reviews)), results); err != nil {
		return err
	}
	return addPeak(results, "peak memory, reviews of MCAs", webhook)
}

// addPeak adds the peak of a webhook's memory since the last call.
func addPeak(results *result.Scenario, name string, webhook *simulator.Webhook) error {
	usage, err := simulator.UsageOf(webhook.PID())
	if err != nil {
		return err
	}
	results.Measure(name, "MiB", usage.Peak)
	return simulator.ForgetPeak(webhook.PID())
}

// reviewFleet requests a review of the deletion of a registration. The deletion would break add-ons on all clusters.
func (s *session) reviewFleet(ctx context.Context, webhook *simulator.Webhook, results *result.Scenario) error {
	registration := &addonv1alpha1.ClusterManagementAddOn{}
	if err := s.fleet.Hub.Client.Get(ctx, client.ObjectKey{Name: simulator.Root}, registration); err != nil {
		return err
	}
	removal, err := s.fleet.Hub.NewRemoval(protector.RegistrationPath, registration)
	if err != nil {
		return err
	}
	// The first review also opens connections and prepares the declarations.
	for _, name := range []string{"first review of a CMA that all clusters need", "second review of a CMA that all clusters need"} {
		if err := s.settleDown(ctx); err != nil {
			return err
		}
		started := time.Now()
		answer, err := webhook.Review(ctx, removal)
		if err != nil {
			return err
		}
		took := time.Since(started)
		if err := s.countsAll(answer); err != nil {
			return err
		}
		if err := s.addFleetReview(ctx, results, name, took); err != nil {
			return err
		}
	}
	return nil
}

// countsAll returns an error unless the answer refuses the deletion, and counts all add-ons and clusters that would
// break.
func (s *session) countsAll(answer simulator.Answer) error {
	breaks := fmt.Sprintf("would break %s on %s:",
		text.Count(len(s.requiring(simulator.Root)), "add-on"), text.Count(len(s.fleet.Clusters), "cluster"))
	if !answer.Refused || !strings.Contains(answer.Message, breaks) {
		return fmt.Errorf("a deletion is not refused because it %q: refused %t, %q", breaks, answer.Refused, answer.Message)
	}
	return nil
}

// addFleetReview adds the time of a review of the whole fleet.
func (s *session) addFleetReview(ctx context.Context, results *result.Scenario, name string, took time.Duration) error {
	if s.installed() > largeFleet {
		results.Measure(name, "s", took.Seconds())
		return nil
	}
	list, err := s.pagedList(ctx)
	if err != nil {
		return err
	}
	results.Bound(name+": time relative to the lists", "×", took.Seconds()/list.Seconds(), result.MedianAtMost, fleetReviewListsBound)
	results.Bound(name, "s", took.Seconds(), result.MedianAtMost, fleetReviewBound)
	return nil
}

// requiring returns the add-ons of the fleet that require an add-on.
func (s *session) requiring(addOn string) []string {
	var names []string
	for _, edge := range simulator.Dependents(s.fleet.AddOns, addOn) {
		if edge.Required {
			names = append(names, edge.Dependent)
		}
	}
	return names
}
