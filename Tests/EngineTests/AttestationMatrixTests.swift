import Control
import Crypto
import Device
import Encoding
import Foundation
import HTTP
import JOSE
import ReferenceIdP
import Testing

/// Evidence the phone makes, genuine and wrong, at the reference IdP: every mode, format and defect of the fixture.
@Suite struct AttestationMatrixTests {
    /// One row of `Fixtures/attestation/matrix.json`.
    struct Row: Decodable, Sendable, CustomTestStringConvertible {
        let mode: String
        let format: String
        let defect: String
        let status: Int
        let error: String
        let rule: String?

        var testDescription: String { "\(mode) \(format) \(defect)" }
    }

    static let rows: [Row] = {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Fixtures/attestation/matrix.json")
        do {
            return try JSONDecoder().decode([Row].self, from: Data(contentsOf: file))
        } catch {
            preconditionFailure("the matrix does not read: \(error)")
        }
    }()

    @Test func `the matrix has every defect of every format in every mode, once`() {
        var wanted: Set<String> = []
        for mode in ["off", "audit", "enforce"] {
            wanted.insert("\(mode) absent none")
            for format in EvidenceFormat.allCases {
                for defect in AttestationDefect.allCases where defect.applies(to: format) {
                    wanted.insert("\(mode) \(format.rawValue) \(defect.rawValue)")
                }
            }
        }
        #expect(Set(Self.rows.map(\.testDescription)) == wanted)
        #expect(Self.rows.count == wanted.count)
    }

    @Test(arguments: rows) func `a start is answered as the matrix says`(row: Row) throws {
        let stage = try AttestationStage(mode: row.mode)
        let answer = try stage.start(format: row.format, defect: row.defect)
        #expect(answer.status == row.status)
        #expect(try JSON(parsing: answer.body)["error"]?.string == row.error)
        #expect(try stage.findings().first == row.rule)
        if row.mode == "enforce" {
            #expect((answer.fields["OAuth-Client-Attestation-Challenge"] != nil) == (row.rule != nil))
        }
    }
}

/// A reference IdP that trusts the phone's platform, and a phone without a store.
final class AttestationStage {
    private static let roots = Result { try AttestationRoots.generate(Entropy(seed: [17])) }
    private static let now = Instant(seconds: 1_800_000_000)

    private let server: ReferenceIdPServer
    private let entropy = Entropy(seed: [18])
    private let own: P256.PrivateKey
    private let other: P256.PrivateKey
    private let appAttest: P256.PrivateKey
    private let otherAppAttest: P256.PrivateKey
    private let attestor: Attestor
    private let mode: String
    private var install = AttestedInstall()
    private var otherInstall = AttestedInstall()

    private var issuer: String { "\(server.settings.origin)/acme" }

    init(mode: String) throws {
        let roots = try Self.roots.get()
        self.mode = mode
        attestor = Attestor(roots: roots)
        own = try P256.PrivateKey.generate(entropy)
        other = try P256.PrivateKey.generate(entropy)
        appAttest = try P256.PrivateKey.generate(entropy)
        // The other install's two keys are one, as far as a maker of evidence knows.
        otherAppAttest = other
        var configuration = ReferenceIdPServer.Configuration(
            origin: "http://127.0.0.1:7421", apiOrigin: "http://127.0.0.1:7422", entropy: Entropy(seed: [19]),
            wallClock: { Self.now })
        configuration.attestationTrust = try AttestationTrust(roots.published)
        server = try ReferenceIdPServer(configuration)
    }

    /// What stands before the start that is looked at, then that start.
    func start(format name: String, defect name2: String) throws -> HTTPResponse {
        guard let format = EvidenceFormat(rawValue: name) else {
            try set(mode)
            return try send(nil, verifier: "v", key: own)
        }
        let defect = try #require(AttestationDefect(rawValue: name2))
        try set("enforce")
        if format == .appAttestAssertion { try good(.appAttest, "a", isOther: false) }
        if format.isAppAttestFormat { try good(.appAttest, "b", isOther: true) }
        if defect == .counterRollback { try good(.appAttestAssertion, "c", isOther: false) }
        if defect == .replayedEvidence { try good(format, "v", isOther: false) }
        #expect(try findings().isEmpty)
        try set(mode)
        return try send(try evidence(format, defect, verifier: "v", isOther: false), verifier: "v", key: own)
    }

    private func good(_ format: EvidenceFormat, _ verifier: String, isOther: Bool) throws {
        let piece = try evidence(format, .none, verifier: verifier, isOther: isOther)
        let answer = try send(piece, verifier: verifier, key: isOther ? other : own)
        let broken = try findings()
        try #require(answer.status == 403, "\(broken)")
    }

    private func set(_ mode: String) throws {
        let answer = call(
            "PATCH", "/manage/tenants/acme", ["Content-Type": "application/json", "Host": "127.0.0.1"],
            JSON(dictionaryLiteral: ("attestation_mode", .string(mode))).serialized())
        try #require(answer.status == 200)
    }

    func findings() throws -> [String] {
        let answer = call("GET", "/manage/findings", ["Host": "127.0.0.1"], [])
        return try JSON(parsing: answer.body)["findings"]?.array?.compactMap { $0["rule"]?.string } ?? []
    }

    private func call(_ method: String, _ path: String, _ fields: HTTPFields, _ body: [UInt8]) -> HTTPResponse {
        server.handle(
            HTTPRequest(method: method, target: path, fields: fields, body: body), peerIsLoopback: true,
            hostIsLoopback: true)
    }

    private func evidence(
        _ format: EvidenceFormat, _ defect: AttestationDefect, verifier: String, isOther: Bool
    ) throws -> JSON {
        let answer = call("POST", "/acme/oauth2/attestation-challenge", [:], [])
        let challenge = try #require(try JSON(parsing: answer.body)["attestation_challenge"]?.string)
        let key = isOther ? other : own
        let data = ClientData.start(
            challenge: challenge, clientID: "app_demo", codeChallenge: Self.challenge(of: verifier),
            jkt: JWK.p256(key.publicKey).thumbprint)
        var settings = AttestationSettings()
        settings.defect = defect
        let keys = EvidenceKeys(
            appAttest: isOther ? otherAppAttest : appAttest, subject: key.publicKey, other: other)
        let (piece, remembered) = try attestor.evidence(
            EvidenceRequest(format: format, clientData: data, issuer: issuer), of: isOther ? otherInstall : install,
            keys: keys, settings: settings, at: Self.now, entropy: entropy)
        if isOther { otherInstall = remembered } else { install = remembered }
        return piece.json
    }

    private static func challenge(of verifier: String) -> String { Base64URL.encode(SHA256.hash(ascii: verifier)) }

    private func send(_ evidence: JSON?, verifier: String, key: P256.PrivateKey) throws -> HTTPResponse {
        let path = "/acme/oauth2/challenge"
        let proof = DPoPProof(
            method: "POST", url: server.settings.origin + path, jti: entropy.token(16), issuedAt: Self.now.seconds,
            accessToken: nil, nonce: nil)
        let jws = try JWS.sign(
            header: DPoPProof.header(key: key.publicKey), payload: JSON.object(proof.claims).serialized(), key: key)
        var form: [(String, String)] = [
            ("response_type", "code"), ("client_id", "app_demo"), ("scope", "openid"), ("nonce", "n"),
            ("code_challenge", Self.challenge(of: verifier)), ("code_challenge_method", "S256"),
        ]
        if let evidence { form.append(("attestation", Base64URL.encode(evidence.serialized()))) }
        return call(
            "POST", path, ["Content-Type": "application/x-www-form-urlencoded", "DPoP": jws],
            FormFields(form).encoded())
    }
}

extension EvidenceFormat {
    fileprivate var isAppAttestFormat: Bool { self == .appAttest || self == .appAttestAssertion }
}
