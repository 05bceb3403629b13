import Encoding
import Foundation
import FoundationXML
import HTTP
import Testing
import Transport

@testable import Scenario

/// A run with a case of every outcome, played once for all tests.
private enum Runs {
    static func scenario(_ name: String, _ steps: String, _ more: String = "") throws -> Scenario {
        try Scenario(
            file: "lib/\(name).json5",
            text: """
                { title: "\(name) <of> & 'all'", group: "a & b", source: "s", users: { ada: {} }, \(more)
                  devices: { phone: { enrolled: "ada" } },
                  steps: [ \(steps) ] }
                """)
    }

    static let rich = #"""
        { signin: { device: "phone", user: "ada", scopes: ["openid", "offline_access"], resource: true,
                    scans: ["mismatch", "match"], faults: ["lose-reply:token"] } },
        { fetch: { device: "phone" } }, { refresh: { device: "phone" } },
        { control: { method: "GET", path: "/v1/devices/phone/session?show_tokens=true" },
          expect: { body: EXPECTED } }, { signup: { device: "phone", email: "bob@example.com" } },
        { signout: { device: "phone" } }
        """#

    static let report = Task { () async throws -> Report in
        let played = await ScenarioSuite().play([
            try scenario("good", rich.replacing("EXPECTED", with: "{ expired: false }")),
            // What was expected in place of a token stands in the failure, and so does the token.
            try scenario("bad", rich.replacing("EXPECTED", with: #"{ access_token: "none" }"#)),
            try scenario("broken", "{ signout: { device: \"phone\" } }", "idp: { rules_off: ['no.such.rule'] },"),
            try scenario(
                "fapi", #"{ signin: { device: "phone", user: "ada" } }"#,
                "tenant: 'fapi', client: 'app_fapi', client_key: true,"),
        ])
        var report = Report(
            title: "a run", version: "1", startedAt: Instant(seconds: 1_795_996_800), opponent: "a reference IdP",
            cases: played.map { Report.Case($0) })
        report.cases.append(Report.Case(name: "left", group: "out", title: "left out", outcome: .skipped("no <need>")))
        let known = Disappointment(
            place: TextPlace(line: 1, column: 1), number: 1, step: "a step", what: "w", expected: "e", got: "g")
        report.cases.append(
            Report.Case(name: "known", group: "out", title: "k", outcome: .expectedFailure("some day", known)))
        return report
    }
}

@Suite("Reports of a run")
struct ReportTests {
    private let key = [UInt8](repeating: 7, count: 32)

    private func artefacts() async throws -> [(name: String, text: String)] {
        let report = try await Runs.report.value
        return [
            ("junit", JUnit.text(report, key: key)),
            ("har", HTTPArchive.document(report, key: key).prettyText),
            ("events", EventLines.text(report, key: key)), ("page", HTMLReport.text(report, key: key)),
            ("annotations", Annotations.lines(report, key: key).joined(separator: "\n")),
        ]
    }

    @Test("the run has a case of every outcome") func outcomes() async throws {
        let counts = try await Runs.report.value.counts
        #expect(
            counts == Report.Counts(passed: 2, failed: 1, errors: 1, skipped: 1, expectedFailures: 1), "\(counts)")
    }

    @Test("no secret the phones saw is in any artefact") func secrets() async throws {
        let report = try await Runs.report.value
        let secrets = report.cases.flatMap { $0.exchanges.flatMap(Secrets.of) }.filter { $0.count >= 6 }
        #expect(Set(secrets).count > 40)
        // Each kind was there to be found.
        for name in ["access_token", "refresh_token", "id_token", "auth_session", "face_token", "client_assertion"] {
            #expect(report.cases.contains { $0.exchanges.contains { Secrets.named(name, in: $0) } }, "\(name)")
        }
        for (name, text) in try await artefacts() {
            for secret in Set(secrets) where text.contains(secret) {
                Issue.record("\(name) has a secret of \(secret.count) characters")
            }
        }
    }

    @Test("the hash of a secret is the same throughout, and another with another key") func hashes() async throws {
        let report = try await Runs.report.value
        let one = Redactor(knowing: report.cases[0], key: key)
        let other = Redactor(knowing: report.cases[0], key: [1])
        #expect(one.mark("a secret of mine") == one.mark("a secret of mine"))
        #expect(one.mark("a secret of mine") != other.mark("a secret of mine"))
        let authorized = report.cases[0].exchanges.lazy.compactMap { $0.request.fields["Authorization"] }
        let token = String(try #require(authorized.first?.split(separator: " ").last))
        #expect(one.text("got \(token)!") == "got \(one.mark(token))!")
        let har = HTTPArchive.document(report, key: key).text
        #expect(har.contains("\"DPoP \(one.mark(token))\""))
    }

    @Test("JUnit is XML, with failures, errors and skipped cases apart") func junit() async throws {
        let text = JUnit.text(try await Runs.report.value, key: key)
        let seen = ElementCount()
        let parser = XMLParser(data: Data(text.utf8))
        parser.delegate = seen
        #expect(parser.parse(), "\(String(describing: parser.parserError))")
        #expect(seen.counts["testsuite"] == 2)
        #expect(seen.counts["testcase"] == 6)
        #expect(seen.counts["failure"] == 1)
        #expect(seen.counts["error"] == 1)
        #expect(seen.counts["skipped"] == 2)
        let whole = try #require(seen.attributes["testsuites"])
        #expect(whole["tests"] == "6")
        #expect(whole["failures"] == "1")
        #expect(whole["errors"] == "1")
        #expect(whole["skipped"] == "2")
        #expect(seen.attributes["failure"]?["message"]?.contains("body.access_token") == true)
        #expect(seen.names.contains("bad: bad <of> & 'all'"))
    }

    @Test("the HTTP archive has what version 1.2 requires") func har() async throws {
        let report = try await Runs.report.value
        let log = try #require(HTTPArchive.document(report, key: key)["log"])
        #expect(log["version"] == "1.2")
        #expect(log["creator"]?["name"]?.string != nil)
        #expect(log["creator"]?["version"]?.string != nil)
        let pages = try #require(log["pages"]?.array)
        let entries = try #require(log["entries"]?.array)
        #expect(entries.count == report.cases.reduce(0) { $0 + $1.exchanges.count })
        for page in pages {
            for name in ["startedDateTime", "id", "title", "pageTimings"] { #expect(page[name] != nil, "\(name)") }
        }
        for entry in entries {
            for name in ["startedDateTime", "time", "request", "response", "cache", "timings"] {
                #expect(entry[name] != nil, "\(name)")
            }
            #expect(pages.contains { $0["id"] == entry["pageref"] })
            for name in [
                "method", "url", "httpVersion", "cookies", "headers", "queryString", "headersSize", "bodySize",
            ] { #expect(entry["request"]?[name] != nil, "\(name)") }
            for name in [
                "status", "statusText", "httpVersion", "cookies", "headers", "content", "redirectURL", "headersSize",
                "bodySize",
            ] { #expect(entry["response"]?[name] != nil, "\(name)") }
            for name in ["size", "mimeType"] { #expect(entry["response"]?["content"]?[name] != nil, "\(name)") }
            for name in ["send", "wait", "receive"] { #expect(entry["timings"]?[name] != nil, "\(name)") }
            let when = try #require(entry["startedDateTime"]?.string)
            #expect(when.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)
        }
    }

    @Test("events are documents, an entry a line, in the order of the journal") func events() async throws {
        let report = try await Runs.report.value
        let lines = EventLines.text(report, key: key).split(separator: "\n")
        #expect(lines.count == report.cases.reduce(0) { $0 + $1.journal.count })
        let documents = try lines.map { try JSON(parsing: Array($0.utf8)) }
        #expect(documents.allSatisfy { $0["case"]?.string?.hasPrefix("a & b/") == true })
        #expect(documents.contains { $0["outcome"] == "failed" && $0["step"]?["call"] == "token" })
    }

    @Test("the page stands alone, and shows what failed, the calls and the proofs") func page() async throws {
        let text = HTMLReport.text(try await Runs.report.value, key: key)
        for foreign in ["<script", "src=", "href=", "url(", "@import", "http-equiv=\"refresh\""] {
            #expect(!text.contains(foreign), "\(foreign)")
        }
        #expect(text.contains("prefers-color-scheme:dark"))
        #expect(text.contains("default-src 'none'"))
        #expect(text.contains("bad &lt;of&gt; &amp; &#39;all&#39;"))
        #expect(text.contains("<details class=\"case failed\" open>"))
        #expect(text.contains("body.access_token"))
        #expect(text.contains("&quot;htm&quot;"))
        #expect(text.contains("no &lt;need&gt;"))
        for tag in ["details", "table", "section", "pre", "ul", "tr"] {
            let opened = text.components(separatedBy: "<\(tag)>").count + text.components(separatedBy: "<\(tag) ").count
            let closed = text.components(separatedBy: "</\(tag)>").count
            #expect(opened - 2 == closed - 1, "\(tag)")
        }
    }

    @Test("a failure and an error are annotations with file and line; nothing else is") func annotations() async throws
    {
        let lines = Annotations.lines(try await Runs.report.value, key: key)
        #expect(lines.count == 2)
        #expect(lines[0].hasPrefix("::error file=lib/bad.json5,line="))
        #expect(lines[0].contains("title=a & b/bad::"))
        #expect(lines[1].hasPrefix("::error file=lib/broken.json5,line=1,col=1,"))
        var report = try await Runs.report.value
        report.cases = [
            Report.Case(name: "a,b", group: "g:h", title: "t", outcome: .error("50% of\nit"))
        ]
        #expect(Annotations.lines(report, key: key) == ["::error title=g%3Ah/a%2Cb::50%25 of%0Ait"])
    }
}

/// Finds secrets by name, in a way that owes nothing to the redactor.
private enum Secrets {
    static let names = [
        "access_token", "refresh_token", "id_token", "authorization_code", "code", "code_verifier", "client_assertion",
        "ceremony_proof", "face_token", "auth_session", "ticket", "request", "enrollment", "token",
    ]

    static func of(_ exchange: RecordedExchange) -> [String] {
        names.compactMap { value($0, in: exchange) }
            + exchange.request.fields.values("DPoP")
            + exchange.request.fields.values("Authorization").compactMap {
                $0.split(separator: " ").last.map(String.init)
            }
    }

    static func named(_ name: String, in exchange: RecordedExchange) -> Bool { value(name, in: exchange) != nil }

    static func value(_ name: String, in exchange: RecordedExchange) -> String? {
        let texts = [exchange.request.body, exchange.response?.body ?? []].map { String(decoding: $0, as: UTF8.self) }
        for text in texts {
            for part in text.split(separator: "&") where part.hasPrefix(name + "=") {
                return String(part.dropFirst(name.count + 1)).removingPercentEncoding
            }
            guard let start = text.range(of: "\"\(name)\":\"") else { continue }
            return text[start.upperBound...].split(separator: "\"").first.map(String.init)
        }
        return nil
    }
}

private final class ElementCount: NSObject, XMLParserDelegate {
    var counts: [String: Int] = [:]
    var attributes: [String: [String: String]] = [:]
    var names: [String] = []

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        counts[name, default: 0] += 1
        if self.attributes[name] == nil { self.attributes[name] = attributes }
        if name == "testcase" { names.append(attributes["name"] ?? "") }
    }
}
