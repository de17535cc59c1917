package controllers

import (
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func TestAt(t *testing.T) {
	now := time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC)
	if got := At(now.Add(time.Minute), now); got.RequeueAfter != time.Minute {
		t.Errorf("brought back after %s", got.RequeueAfter)
	}
	if got := At(now.Add(-time.Minute), now); got.RequeueAfter <= 0 {
		t.Errorf("brought back after %s, which is never", got.RequeueAfter)
	}
	if got := At(time.Time{}, now); got != (reconcile.Result{}) {
		t.Errorf("brought back although there is no moment: %+v", got)
	}
}
