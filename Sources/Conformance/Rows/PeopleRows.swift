import Encoding
import Engine
import HTTP
import Profiles
import SignIn
import Transport

/// What a server must see when people and devices change under way; needs the management API.
extension Row {
    static let people: [Row] = [
        Row("ceremony.device", "wire 4", "a session serves the device that fetched first") {
            lab, score async throws(ProbeFault) in
            let guest = try await lab.guest()
            let second = try await lab.secondPhone(of: guest)
            let call = try await ProbeFlow(lab, by: guest.phone).advance(to: .completion)
            let fetch = try lab.fetch(sessionOf: call, by: second)
            score.refused(
                "a second phone of the user on a bound session", try await lab.fire(try lab.request(fetch)), [403],
                ["access_denied"])
        },
        Row("ceremony.access", "wire 2", "the user may sign in") { lab, score async throws(ProbeFault) in
            let call = try await lab.disabled(before: .faceToken)
            score.refused("a disabled user's face token", call, [403], ["access_denied"])
        },
        Row("completion.access", "wire 6", "the user may still sign in") { lab, score async throws(ProbeFault) in
            let answer = try await lab.disabled(before: .completion)
            score.refused("a disabled user's completion", answer, [403, 400], ["access_denied", "invalid_session"])
        },
        Row("code.access", "wire 7", "the user may still sign in") { lab, score async throws(ProbeFault) in
            score.refused("a disabled user's code", try await lab.disabled(before: .token), [400], ["invalid_grant"])
        },
        Row("refresh.access", "wire 7", "the user may still sign in") { lab, score async throws(ProbeFault) in
            let guest = try await lab.guest()
            guard let token = try await ProbeFlow(lab, by: guest.phone).finish().refresh else {
                throw .missing("the application gets no refresh token: allow it the scope offline_access")
            }
            let answer = try await Management(lab).during(
                "users/\(guest.id)", ["enabled": false], then: ["enabled": true]
            ) { () async throws(ProbeFault) in
                try await lab.exchange(lab.refreshCall(token), by: guest.phone)
            }
            score.refused("a disabled user's refresh", answer, [400], ["invalid_grant"])
        },
        Row("completion.device", "wire 6", "the device is still enrolled") { lab, score async throws(ProbeFault) in
            let guest = try await lab.guest()
            let call = try await ProbeFlow(lab, by: guest.phone).advance(to: .completion)
            try await Management(lab).ofTenant("DELETE", "users/\(guest.id)/devices/\(guest.phone.kid)")
            lab.made.guest = nil
            score.refused(
                "a removed device's completion", try await lab.exchange(call, by: guest.phone), [403, 400],
                ["access_denied", "invalid_session"])
        },
    ]

    /// What stops when a switch is withdrawn; needs the management API.
    static let withdrawals: [Row] = [
        Row("client.opt_in", "wire 3", "the application has in-app sign-in allowed") {
            lab, score async throws(ProbeFault) in
            let client = try await lab.newClient([("first_party_challenge_enabled", false)])
            let call = try await ProbeFlow(lab, clientID: client).advance(to: .start)
            score.refused("a start", try await lab.exchange(call), [400], ["unauthorized_client"])
        },
        Row("session.permit", "wire 3", "a session from before a withdrawal is over") {
            lab, score async throws(ProbeFault) in
            let client = try await lab.otherClient()
            let call = try await ProbeFlow(lab, clientID: client).advance(to: .completion)
            try await lab.withdraw(client)
            score.refused(
                "a completion", try await lab.exchange(call), [400, 403], ["invalid_session", "unauthorized_client"])
        },
        Row("code.permit", "wire 3", "a code from before a withdrawal is dead") {
            lab, score async throws(ProbeFault) in
            let client = try await lab.otherClient()
            let call = try await ProbeFlow(lab, clientID: client).advance(to: .token)
            try await lab.withdraw(client)
            score.refused("the code", try await lab.exchange(call), [400], ["invalid_grant", "unauthorized_client"])
        },
        Row("client.tenant_app", "wire 3", "the tenant runs its own app") { lab, score async throws(ProbeFault) in
            let call = try await ProbeFlow(lab).advance(to: .start)
            let answer = try await Management(lab).during("", ["runs_own_app": false], then: ["runs_own_app": true]) {
                () async throws(ProbeFault) in try await lab.exchange(call)
            }
            lab.forgetStages()
            score.refused("a start", answer, [400], ["unauthorized_client"])
        },
    ]

    /// What ends with time; needs the management API's clock, or patience.
    static let times: [Row] = [
        Row("code.lifetime", "RFC 6749 4.1.2, wire 7, M21", "a code is redeemed in time") {
            lab, score async throws(ProbeFault) in
            let call = try await ProbeFlow(lab).advance(to: .token)
            try await lab.later(by: try await lab.codeLifetime() + 1) { () async throws(ProbeFault) in
                score.refused("a code too late", try await lab.exchange(call), [400], ["invalid_grant"])
            }
        },
        Row("session.lifetime", "wire 3", "a session past its lifetime is over") {
            lab, score async throws(ProbeFault) in
            let flow = ProbeFlow(lab)
            let start = try await flow.advance(to: .start)
            let opened = try await lab.exchange(start)
            flow.accept(opened)
            let call = try await flow.advance(to: .completion)
            guard let lifetime = opened.json?["expires_in"]?.int else { throw .missing("a start names no expires_in") }
            try await lab.later(by: lifetime + 1) { () async throws(ProbeFault) in
                score.refused(
                    "a completion too late", try await lab.exchange(call), [400, 403],
                    ["invalid_session", "access_denied"])
            }
        },
        Row("access_token.exp", "RFC 9068 4", "an access token is in time") { lab, score async throws(ProbeFault) in
            guard lab.setup.api != nil else { throw .missing("no resource API was given: --api URL") }
            let flow = ProbeFlow(lab)
            let answer = try await lab.exchange(try await flow.advance(to: .token))
            let token = try answer.text("access_token")
            guard let lifetime = answer.json?["expires_in"]?.int else {
                throw .missing("the answer names no expires_in")
            }
            try await lab.later(by: lifetime + 1) { () async throws(ProbeFault) in
                score.refused("a token too late", try await lab.callAPI(token), [401], ["invalid_token"])
            }
        },
    ]
}

extension Lab {
    /// The answer to a guest's call, made while the guest is disabled.
    func disabled(before purpose: Call.Purpose) async throws(ProbeFault) -> Answer {
        let guest = try await guest()
        let call = try await ProbeFlow(self, by: guest.phone).advance(to: purpose)
        return try await Management(self).during(
            "users/\(guest.id)", ["enabled": false], then: ["enabled": true]
        ) { () async throws(ProbeFault) in try await exchange(call, by: guest.phone) }
    }

    /// Withdraws in-app sign-in from a client of the run's own, and gives it back.
    func withdraw(_ client: String) async throws(ProbeFault) {
        try await Management(self).during(
            "applications/\(client)", ["first_party_challenge_enabled": false],
            then: ["first_party_challenge_enabled": true]
        ) { () async throws(ProbeFault) in }
    }

    /// Seconds a code lives: what the tenant's policy says, else the minute of the description.
    func codeLifetime() async throws(ProbeFault) -> Int64 {
        guard setup.management != nil else { return setup.profile.lifetimes.code }
        let policy = try await Management(self).ofTenant("GET", "policy")
        return policy["code_lifetime"]?.int ?? setup.profile.lifetimes.code
    }
}
