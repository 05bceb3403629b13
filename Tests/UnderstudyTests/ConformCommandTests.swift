import Control
import Encoding
import Engine
import Foundation
import Testing

@testable import understudy

struct ConformCommandTests {
    private func ticket(_ stage: Stage) async throws -> String {
        let api = try stage.remote(stage.idp.served.management)
        let user = try await api.document(
            "POST", "/manage/tenants/acme/users", body: ["email": .string("\(UUID())@acme.example"), "ticket": true])
        return try #require(user["ticket"]?.string)
    }

    private func order(_ stage: Stage) async throws -> [String] {
        [
            "conform", "--issuer", stage.issuer, "--client", "app_demo", "--ticket", try await ticket(stage), "--api",
            stage.api, "--management", stage.idp.served.management,
        ]
    }

    private func file(_ scratch: Scratch, _ name: String, _ text: String) throws -> String {
        let path = scratch.path + "/" + name
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    @Test func `the reference IdP passes, in lines, as a document and as a JUnit report`() async throws {
        let stage = try await Stage.open()
        let scratch = try Scratch()
        let report = scratch.path + "/report.xml"
        let ran = await stage.runner.run(try await order(stage) + ["--json", "--junit", report])
        #expect(ran.exit == .done, "\(ran.out)")
        let document = try ran.document()
        #expect(document["summary"]?["fail"] == 0)
        #expect(document["unexpected"] == [])
        #expect(document["rows"]?.array?.count == Int(document["summary"]?["pass"]?.int ?? 0))
        #expect(ran.err.contains("pass    dpop.typ"))
        let xml = try String(contentsOfFile: report, encoding: .utf8)
        #expect(xml.contains("failures=\"0\"") && xml.contains("name=\"dpop.typ: "))
        #expect(await stage.runner.run("device", "list").out.contains("conform-") == false)
    }

    @Test func `a rule that is off ends ill, unless it is expected to`() async throws {
        let stage = try await Stage.open()
        let scratch = try Scratch()
        let api = try stage.remote(stage.idp.served.management)
        _ = try await api.document("PUT", "/manage/tenants/acme/rules", body: ["off": ["dpop.typ"]])
        let report = scratch.path + "/report.xml"
        let ran = await stage.runner.run(
            try await order(stage) + ["--only", "dpop.typ,code.once", "--junit", report])
        #expect(ran.exit == .failed)
        #expect(ran.out.contains("fail    dpop.typ"))
        #expect(
            ran.out.contains("typ-jwt at start: expected 400 invalid_dpop_proof, got 403 insufficient_authorization"))
        #expect(
            try String(contentsOfFile: report, encoding: .utf8).contains(
                "<failure message=\"dpop.typ: typ-jwt at start should be"))

        let known = try file(
            scratch, "known.json", "[{ rule: 'dpop.typ', reason: 'a proxy rewrites it', expires: '9999-12-31' }]")
        let expected = await stage.runner.run(
            try await order(stage) + ["--only", "dpop.typ", "--only", "code.once", "--expected-failures", known])
        #expect(expected.exit == .done)
        #expect(expected.out.contains("1 pass, 0 warn, 1 fail, 0 skipped, 1 failed as expected"))
        let over = try file(scratch, "over.json5", "[{ rule: 'dpop.typ', reason: 'a proxy', expires: '2020-02-29' }]")
        let expired = await stage.runner.run(
            try await order(stage) + ["--only", "dpop.typ", "--expected-failures", over, "--junit", report])
        #expect(expired.exit == .failed)
        #expect(expired.out.contains("expected to fail until 2020-02-29, which is over"))
        #expect(try String(contentsOfFile: report, encoding: .utf8).contains("which is over"))
        _ = try await api.document("PUT", "/manage/tenants/acme/rules", body: ["off": []])
        let stale = await stage.runner.run(
            try await order(stage) + ["--only", "dpop.typ", "--expected-failures", known])
        #expect(stale.exit == .failed)
        #expect(stale.out.contains("dpop.typ: it passes; remove the entry"))
        let elsewhere = await stage.runner.run(
            try await order(stage) + ["--only", "code.once", "--expected-failures", known])
        #expect(elsewhere.exit == .done)
    }

    @Test func `a server nobody answers for, and one where nothing works, are not judged`() async throws {
        let stage = try await Stage.open()
        let order = try await order(stage)
        let elsewhere = order.map { $0 == stage.issuer ? "http://127.0.0.1:1/acme" : $0 }
        let unreachable = await stage.runner.run(elsewhere)
        #expect(unreachable.exit == .unavailable)
        #expect(unreachable.err.contains("nothing was judged"))
        let unknown = await stage.runner.run(order.map { $0 == "app_demo" ? "app_nobody" : $0 })
        #expect(unknown.exit == .unavailable)
        #expect(unknown.err.contains("401 invalid_client"))
    }

    @Test(arguments: ["auto", "android-key", "play-integrity"])
    func `an IdP that enforces attestation is judged by a phone that brings evidence`(format: String) async throws {
        let stage = try await Stage.open()
        let api = try stage.remote(stage.idp.served.management)
        _ = try await api.document("PATCH", "/manage/tenants/acme", body: ["attestation_mode": "enforce"])
        let ran = await stage.runner.run(
            try await order(stage) + ["--only", "attestation.evidence,attestation.nonce,dpop.typ", "--attest", format])
        #expect(ran.exit == .done, "\(ran.out)")
        #expect(ran.out.contains("3 pass, 0 warn, 0 fail, 0 skipped"), "\(ran.out)")
    }

    @Test func `wrong options are told before anything is sent`() async throws {
        let stage = try await Stage.open()
        #expect(await stage.runner.run("conform", "--issuer", stage.issuer).exit == .usage)
        #expect(await stage.runner.run("conform", "--issuer", stage.issuer, "--client", "a").exit == .usage)
        let rule = await stage.runner.run(
            "conform", "--issuer", stage.issuer, "--client", "a", "--ticket", "t", "--only", "dpop.typo")
        #expect(rule.exit == .badInput)
        #expect(rule.err.contains("dpop.typo"))
        let format = await stage.runner.run(
            "conform", "--issuer", stage.issuer, "--client", "a", "--ticket", "t", "--attest",
            "apple-appattest-assertion")
        #expect(format.exit == .badInput)
        #expect(format.err.contains("android-key"))
        let listed = await stage.runner.run("conform", "--list")
        #expect(listed.exit == .done)
        #expect(listed.out.contains("code.once") && listed.out.contains("RFC 6749 4.1.2, M21"))
    }

    @Test func `a broken file of expected failures is told before anything is judged`() async throws {
        let stage = try await Stage.open()
        let scratch = try Scratch()
        let path = try file(scratch, "known.json5", "[{ rule: 'dpop.tpy', reason: 'r', expires: '2026-12-31' }]")
        let ran = await stage.runner.run(
            "conform", "--issuer", stage.issuer, "--client", "a", "--ticket", "t", "--expected-failures", path)
        #expect(ran.exit == .badInput)
        #expect(
            ran.err.contains("known.json5:1:2: there is no rule 'dpop.tpy'; did you mean 'dpop.typ'?"), "\(ran.err)")
    }
}
