package ledger

import (
	"io"
	"net/http"
	"slices"
	"testing"
)

const visit = `ledger.session("/api/sessions", "{}", ["/api/users?page=0", "/api/users?page=1"])`

func TestASessionIsWhatBecameOfItsFirstRequestThatFailed(t *testing.T) {
	ok, loggedIn, untold := Record{Status: 200}, Record{Status: 201}, Record{Status: 201, ErrorCode: loginFailed}
	failed, closed := Record{Status: 500, ErrorCode: 1500}, Record{ErrorCode: endOfFile}
	for _, one := range []struct {
		login    string // what its 201 says
		lists    [2]int // statuses of their answers; 0: none
		requests []Record
		session  Record
	}{
		{`{"token":"t"}`, [2]int{200, 200}, []Record{loggedIn, ok, ok}, ok},
		{`{"token":"t"}`, [2]int{204, 500}, []Record{loggedIn, {Status: 204}, failed}, Record{Status: 204}},
		{`{"token":"t"}`, [2]int{500, 0}, []Record{loggedIn, failed, closed}, failed},
		{`{"token":"t"}`, [2]int{0, 200}, []Record{loggedIn, closed}, closed},
		{`{"token":""}`, [2]int{200, 200}, []Record{untold}, untold},
		{`{"token":"t"`, [2]int{200, 200}, []Record{untold}, untold},
	} {
		url := serve(t, func(answer http.ResponseWriter, request *http.Request) {
			if request.Method == http.MethodPost {
				answer.WriteHeader(http.StatusCreated)
				_, _ = io.WriteString(answer, one.login)
				return
			}
			if request.Header.Get("Authorization") != "Bearer t" {
				t.Errorf("%v", request)
			}
			status := one.lists[map[string]int{"page=0": 0, "page=1": 1}[request.URL.RawQuery]]
			if status == 0 {
				panic(http.ErrAbortHandler)
			}
			answer.WriteHeader(status)
		})
		user := users(t, 1, url)[0]
		user.run(visit)
		found, whole := user.recordsIn(user.path+requestsSuffix), user.records()
		for place, record := range found {
			if record.Sequence != uint32(7*3+place) || (record.Operation == login) != (place == 0) {
				t.Errorf("%+v: %+v", one, record)
			}
		}
		if !slices.EqualFunc(found, one.requests, alike) || !slices.EqualFunc(whole, []Record{one.session}, alike) ||
			whole[0].Sequence != 7 || whole[0].Operation != session {
			t.Errorf("%+v: %+v %+v", one, found, whole)
		}
	}
}

func alike(one, other Record) bool {
	return one.Status == other.Status && one.ErrorCode == other.ErrorCode
}

func TestAnInterruptedSessionIsBegunAndLeavesNoRecord(t *testing.T) {
	var user user
	url := serve(t, func(answer http.ResponseWriter, request *http.Request) {
		if request.Method == http.MethodPost {
			answer.WriteHeader(http.StatusCreated)
			_, _ = io.WriteString(answer, `{"token":"t"}`)
			return
		}
		user.CancelContext()
		<-request.Context().Done() // the connection is closed
	})
	user = users(t, 1, url)[0]
	user.run(visit)
	if begun := user.run("ledger.begun()").ToInteger(); begun != 1 {
		t.Errorf("%d begun", begun)
	}
	if requests := user.recordsIn(user.path + requestsSuffix); len(requests) != 1 || len(user.records()) != 0 {
		t.Errorf("%+v", requests)
	}
}
