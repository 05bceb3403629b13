import Device
import Encoding
import Engine
import HTTP
import SignIn
import Testing

/// Whole sign-ins over sockets: our phone, our reference IdP.
@Suite struct WholeSignInTests {
    @Test func `two mismatches and a match end in tokens the API accepts`() async throws {
        let house = try await House.open()
        let ada = try await house.phone()
        let flow = try await house.signIn(ada, scans: [.mismatch, .mismatch, .match])
        guard case .signedIn(let summary) = flow.state else {
            Issue.record("ended \(flow.state)")
            return
        }
        #expect(summary.email == "ada@acme.test")
        #expect(summary.canRefresh)
        // The start's answer has brought the nonce that completion and token need.
        #expect(
            flow.calls == [
                "start 403 insufficient_authorization", "faceToken 200", "attempt 200", "attempt 200",
                "completion 200", "token 200",
            ])
        let fetched = try await house.engine.fetch(
            APIRequest(url: try HTTPURL(house.api + "/accounts")), device: ada)
        #expect(fetched.isAuthorized)
        #expect(fetched.response.status == 200)
    }

    @Test func `the third mismatch ends the session on both sides without a fourth scan`() async throws {
        let house = try await House.open()
        let ada = try await house.phone()
        let flow = try await house.signIn(ada, scans: [.mismatch, .mismatch, .mismatch, .match])
        #expect(flow.reason == "faceMismatch")
        #expect(flow.calls.filter { $0.hasPrefix("attempt") }.count == 3)
        #expect(!flow.calls.contains { $0.hasPrefix("completion") })
        #expect(try await house.engine.session(of: ada) == nil)
    }

    @Test func `liveness failures and bad captures cost nothing`() async throws {
        let house = try await House.open()
        let ada = try await house.phone()
        let flow = try await house.signIn(
            ada,
            scans: [
                .livenessFailed(reason: "photo"), .badCapture(.blurred), .mismatch, .badCapture(.noFace), .mismatch,
                .match,
            ])
        #expect(flow.reason == nil)
        #expect(flow.calls.filter { $0.hasPrefix("attempt") }.count == 2)
    }

    @Test func `a device without a key fails before any call`() async throws {
        let house = try await House.open()
        let id = try #require(DeviceID(rawValue: "stranger"))
        _ = try house.engine.createDevice(id)
        let flow = try await house.signIn(id)
        #expect(flow.reason == "notEnrolled")
        #expect(flow.calls.isEmpty)
        #expect(house.exchanges.all.isEmpty)
    }

    @Test func `a hint this device has no key for still makes calls one and two`() async throws {
        let house = try await House.open()
        let ada = try await house.phone()
        let flow = try await house.signIn(ada, hint: "nobody@acme.test")
        #expect(flow.reason == "notEnrolled")
        #expect(flow.calls.filter { $0.hasPrefix("start") || $0.hasPrefix("faceToken") }.count == 2)
    }

    @Test func `the face token is one generation further after every sign-in`() async throws {
        let house = try await House.open()
        let ada = try await house.phone()
        for generation in 2...4 {
            let flow = try await house.signIn(ada, scans: [.match])
            #expect(flow.reason == nil)
            #expect(flow.generations == [Int64(generation)])
        }
    }

    @Test func `a new sign-in replaces the session and revokes the old refresh token`() async throws {
        let house = try await House.open()
        let ada = try await house.phone()
        _ = try await house.signIn(ada, scans: [.match])
        let first = try #require(try await house.engine.session(of: ada)).session
        _ = try await house.signIn(ada, scans: [.match])
        let second = try #require(try await house.engine.session(of: ada)).session
        #expect(first.accessToken != second.accessToken)
        #expect(first.refreshToken != second.refreshToken)
    }

    @Test func `two hundred sign-ins at once all succeed`() async throws {
        let house = try await House.open()
        var phones: [DeviceID] = []
        for number in 0..<20 { phones.append(try await house.phone("p\(number)")) }
        let reasons = try await withThrowingTaskGroup(of: String?.self) { group in
            for number in 0..<200 {
                let phone = phones[number % phones.count]
                group.addTask { try await house.signIn(phone, scans: [.match]).reason }
            }
            var reasons: [String] = []
            for try await reason in group { if let reason { reasons.append(reason) } }
            return reasons
        }
        // Ten sign-ins of one phone race for its face token: those that lose see a newer generation.
        #expect(reasons.allSatisfy { $0 == "faceTokenStale" })
        #expect(reasons.count < 200)
    }
}
