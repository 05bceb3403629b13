import Crypto
import Encoding
import HTTP
import JOSE
import Profiles
import Synchronization
import Transport

/// What the exchanges of a run show beyond the steps of its flow: PKCE, bindings, and what came back.
///
/// Everything is computed from what was sent and received.
final class Evidence: Sendable {
    /// What the run has shown so far, for later calls to be held against.
    private struct Known {
        var taken = 0
        var start: Exchange?
        var accessToken: String?
    }

    private let log: ExchangeLog
    private let profile: SenseCryptProfile
    private let known: Mutex<Known>

    /// Evidence from the exchanges of a log, beyond those told already.
    init(_ log: ExchangeLog, _ profile: SenseCryptProfile, from first: Int = 0) {
        self.log = log
        self.profile = profile
        known = Mutex(Known(taken: first))
    }

    /// The evidence in the form a narrator asks for it.
    var calls: CallEvidence { CallEvidence { self.finding(for: $0) } }

    /// What the next exchange shows that fits a call step.
    func finding(for step: JSON) -> CallEvidence.Finding? {
        known.withLock { known in
            let fits = log.all.dropFirst(known.taken).firstIndex { exchange in
                exchange.request.method == step["method"]?.string && exchange.request.url.text == step["url"]?.string
            }
            guard let fits else { return nil }
            known.taken = fits + 1
            return finding(log.all[fits], &known)
        }
    }

    private func finding(_ exchange: Exchange, _ known: inout Known) -> CallEvidence.Finding {
        let name = profile.members
        var finding = CallEvidence.Finding(got: Answer.lines(exchange, hiding: name.secretNames))
        let form = exchange.form
        if let challenge = form["code_challenge"] {
            let shown = Shortened.text(Display.safe(challenge))
            finding.proved.append("PKCE: code_challenge \(shown): the hash of a verifier kept back")
            if exchange.answerJSON["auth_session"] != nil { known.start = exchange }
        }
        if let verifier = form["code_verifier"], let start = known.start {
            finding.proved.append(Self.pkce(verifier, start))
        }
        if let jws = exchange.sentJSON[name.enrollment.enrollment]?.string.flatMap({ try? JWS(compact: $0) }) {
            finding.proved.append(enrolment(jws.claims, exchange.sentJSON))
        }
        let ceremony =
            form[name.challengeForm.ceremonyProof] ?? exchange.sentJSON[name.ceremonyRequest.request]?.string
        if let jws = ceremony.flatMap({ try? JWS(compact: $0) }), let start = known.start {
            finding.proved.append(binding(jws.claims, to: start))
            if let sealed = form[name.challengeForm.faceToken] { finding.proved.append(faceToken(jws.claims, sealed)) }
        }
        if let token = exchange.answerJSON["access_token"]?.string { known.accessToken = token }
        if let token = exchange.accessToken, let proof = exchange.dpopProof {
            finding.proved += Self.apiProof(proof, token)
        }
        if let issued = exchange.answerJSON["access_token"]?.string {
            finding.got += Self.accessToken(issued, provedBy: exchange.dpopProof)
        }
        if let identity = exchange.answerJSON["id_token"]?.string, let start = known.start {
            finding.got += Self.idToken(identity, start)
        }
        return finding
    }

    private static func pkce(_ verifier: String, _ start: Exchange) -> String {
        let fits = hash(ascii: verifier) == start.form["code_challenge"]
        return "PKCE: the hash of code_verifier is \(fits ? "" : "NOT ")the code_challenge of the start"
    }

    /// Whether a ceremony's claims are those of the session that the start opened.
    private func binding(_ claims: JSONObject, to start: Exchange) -> String {
        let (name, member) = (profile.ceremony.claims, profile.members)
        let opened = start.answerJSON
        let ceremony = opened[member.startAnswer.ceremony]
        let expected: [(String, String?)] = [
            (name.authSessionHash, opened["auth_session"]?.string.map { Self.hash(ascii: $0) }),
            (name.ceremony, ceremony?[member.ceremony.id]?.string),
            (name.challenge, ceremony?[member.ceremony.challenge]?.string),
            (name.installThumbprint, start.dpopProof?.signer),
        ]
        let wrong = expected.filter { claims[$0.0]?.string != $0.1 }.map(\.0)
        let names = expected.map(\.0).joined(separator: ", ")
        return wrong.isEmpty
            ? "\(names) are those of the session the start opened"
            : "\(wrong.joined(separator: ", ")) NOT of the session the start opened"
    }

    private func enrolment(_ claims: JSONObject, _ sent: JSON) -> String {
        let (name, member) = (profile.ceremony.claims, profile.members.enrollment)
        let secret = (sent[member.ticket] ?? sent[member.code])?.string
        let sealed = sent[member.faceToken]?.string.flatMap { try? Base64URL.decode($0) }
        let expected = [
            (name.ticketHash, secret.map { Self.hash(ascii: $0) }),
            (name.faceTokenHash, sealed.map { Base64URL.encode(SHA256.hash($0)) }),
        ]
        let wrong = expected.filter { claims[$0.0]?.string != $0.1 }.map(\.0)
        return wrong.isEmpty
            ? "\(expected.map(\.0).joined(separator: " and ")) are the hashes of the ticket and the face token sent along"
            : "\(wrong.joined(separator: ", ")) NOT the hash of what was sent along"
    }

    private func faceToken(_ claims: JSONObject, _ sealed: String) -> String {
        let bytes = (try? Base64URL.decode(sealed)) ?? []
        let name = profile.ceremony.claims.faceTokenHash
        let fits = claims[name]?.string == Base64URL.encode(SHA256.hash(bytes))
        return "\(name) is \(fits ? "" : "NOT ")the hash of the face token sent along"
    }

    /// How an API call proves that the token is the caller's own.
    private static func apiProof(_ proof: JWS, _ token: String) -> [String] {
        let bound = (try? JWS(compact: token))?.claims["cnf"]?["jkt"]?.string
        let key = bound == proof.signer ? "cnf.jkt = jkt" : "cnf.jkt is NOT jkt"
        let hash = proof.claims["ath"]?.string == hash(ascii: token) ? "ath = hash" : "ath is NOT the hash"
        return ["\(key): the token is bound to the key of this proof", "\(hash) of the access token sent along"]
    }

    private static func accessToken(_ token: String, provedBy proof: JWS?) -> [String] {
        guard let claims = (try? JWS(compact: token))?.claims else { return [] }
        let shown = ["iss", "sub", "aud", "client_id", "scope", "exp"].compactMap { name in
            claims[name].map { "\(name) \($0.shown)" }
        }
        let bound = claims["cnf"]?["jkt"]?.string
        let key = bound == proof?.signer ? "the key of this proof" : "NOT the key of this proof"
        return [
            "access token: \(shown.joined(separator: ", "))",
            "access token: cnf.jkt \(bound.map(Display.safe) ?? "nothing"), which is \(key)",
        ]
    }

    private static func idToken(_ token: String, _ start: Exchange) -> [String] {
        guard let claims = (try? JWS(compact: token))?.claims else { return [] }
        let shown = ["iss", "sub", "aud", "email", "exp"].compactMap { name in
            claims[name].map { "\(name) \($0.shown)" }
        }
        let fits = claims["nonce"]?.string == start.form["nonce"]
        let nonce = claims["nonce"]?.shown ?? "nothing"
        return [
            "ID token: \(shown.joined(separator: ", "))",
            "ID token: nonce \(nonce), \(fits ? "" : "NOT ")the one of the start",
        ]
    }

    private static func hash(ascii text: String) -> String { Base64URL.encode(SHA256.hash(ascii: text)) }
}

/// What an answer gave, its secrets as short marks.
enum Answer {
    private static let secrets: Set<String> = [
        "auth_session", "authorization_code", "access_token", "id_token", "refresh_token",
    ]
    private static let longest = 160

    /// The members of an answer, besides those of an error, in a line; `names` are secrets as well.
    static func lines(_ exchange: Exchange, hiding names: Set<String>) -> [String] {
        let members = exchange.answerJSON.object?.members ?? []
        let shown = members.filter { $0.name != "error" && $0.name != "error_description" }.map { member in
            "\(Display.safe(member.name)) \(text(member.name, member.value, names))"
        }
        return shown.isEmpty ? [] : [shown.joined(separator: ", ")]
    }

    private static func text(_ name: String, _ value: JSON, _ names: Set<String>) -> String {
        if secrets.contains(name) || names.contains(name), let secret = value.string {
            return Redaction.fingerprint(secret)
        }
        if let members = value.object?.members {
            let shown = members.map { "\(Display.safe($0.name)) \(Self.text($0.name, $0.value, names))" }
            return "(" + shown.joined(separator: ", ") + ")"
        }
        if let elements = value.array {
            return elements.isEmpty ? "none" : elements.map { Self.text("", $0, names) }.joined(separator: " ")
        }
        let text = Shortened.text(value.shown)
        return text.count > longest ? text.prefix(longest) + "…" : text
    }
}
