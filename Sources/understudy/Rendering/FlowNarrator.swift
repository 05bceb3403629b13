import Encoding

/// Tells a flow step by step, in lines: one for each step, or, when asked for more, with what each call proved.
///
/// Everything it says is read from the steps; it knows what words mean, not what should have happened.
struct FlowNarrator {
    let style: Style
    let verbose: Bool
    /// What more is known of a call than its step tells; nil for nothing.
    var evidence: CallEvidence?
    private var lastError: String?

    /// Begins a story.
    init(style: Style = .plain, verbose: Bool = false, evidence: CallEvidence? = nil) {
        self.style = style
        self.verbose = verbose
        self.evidence = evidence
    }

    /// The lines of one step.
    mutating func lines(_ step: JSON) -> [String] {
        switch step["kind"]?.string {
        case "state": [state(step)]
        case "call": call(step)
        case "scan": ["  camera: \(scan(step.shown("outcome")))"]
        case "face": ["  " + face(step)]
        case "fault": ["  fault as asked: \(step.shown("fault")) at \(step.shown("call"))"]
        default: ["  \(step.shown("kind")): \(step.shown)"]
        }
    }

    private func state(_ step: JSON) -> String {
        var remarks: [String] = []
        if let left = step["attempts_left"]?.int { remarks.append("\(left) attempt\(left == 1 ? "" : "s") left") }
        if let outcome = step["outcome"] { remarks.append("last scan: \(outcome.shown)") }
        if let reason = step["reason"] { remarks.append(reason.shown) }
        let line = style.strong(step.shown("state"))
        return remarks.isEmpty ? line : "\(line) (\(remarks.joined(separator: "; ")))"
    }

    private func scan(_ outcome: String) -> String {
        switch outcome.prefix(while: { $0 != ":" }) {
        case "match": "match, the enrolled face"
        case "mismatch": "mismatch, somebody else's face"
        case "livenessFailed": "\(outcome), no living face"
        case "badCapture": "\(outcome), no usable picture"
        default: outcome
        }
    }

    private func face(_ step: JSON) -> String {
        switch step["event"]?.string {
        case "opened": "the face opens the face token"
        case "not opened": "the face does not open the face token"
        case "re-sealed": "the face token is sealed again, as generation \(step.shown("generation"))"
        default: "face token: \(step.shown("event"))"
        }
    }

    private mutating func call(_ step: JSON) -> [String] {
        defer { lastError = step["error"]?.string }
        let attempt = step["attempt"]?.int ?? 1
        let name = style.strong(step.shown("call")) + (attempt > 1 ? " (attempt \(attempt))" : "")
        let head = "  \(name)  \(step.shown("method")) \(Self.path(step.shown("url")))"
        guard verbose else { return ["\(head)  \(answer(step))"] }
        var lines = [head]
        for proof in step["proved"]?.array ?? [] { lines += self.proof(proof, answering: lastError) }
        let known = evidence?.consume(step)
        for line in known?.proved ?? [] { lines.append(row("proved", line)) }
        lines.append(row(step["lost"] == nil ? "answered" : "lost", answer(step)))
        if let why = Meaning.of(error: step["error"]?.string) { lines.append(row("", why)) }
        for line in known?.got ?? [] { lines.append(row("got", line)) }
        return lines
    }

    private func answer(_ step: JSON) -> String {
        if let lost = step["lost"] { return style.bad("no answer: \(lost.shown)") }
        let status = step.shown("status")
        guard let error = step["error"] else { return style.good(status) }
        let description = step["error_description"].map { ": \($0.shown)" } ?? ""
        return "\(style.bad("\(status) \(error.shown)"))\(description)"
    }

    /// A signed proof: where it stood, whose key made it, and the claims that tie it to this sign-in.
    private func proof(_ proof: JSON, answering challenge: String?) -> [String] {
        let place = proof["header"].map { "\($0.shown) header" } ?? "\(proof.shown("body")) in the body"
        let claims = proof["claims"]?.object?.members ?? []
        let signer = "\(place), signed by the \(proof.shown("by")) \(proof.shown("kid"))"
        let plain = claims.filter { Meaning.of(claim: $0.name) == nil }
        var lines = [row("proved", signer)]
        if !plain.isEmpty {
            lines.append(row("", plain.map { "\(Display.safe($0.name)) \($0.value.shown)" }.joined(separator: ", ")))
        }
        for claim in claims {
            guard var meaning = Meaning.of(claim: claim.name) else { continue }
            if claim.name == "nonce", challenge == "use_dpop_nonce" { meaning = "the nonce the server just asked for" }
            lines.append(row("", "\(claim.name) \(claim.value.shown): \(meaning)"))
        }
        return lines
    }

    private func row(_ label: String, _ text: String) -> String {
        "    " + style.faint(label) + String(repeating: " ", count: max(0, 10 - label.count)) + text
    }

    /// The path of a URL, for lines that a person skims.
    static func path(_ url: String) -> String {
        let parts = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        return parts.count == 4 ? "/" + parts[3] : url
    }
}

/// What claims and errors are for, in a few words.
enum Meaning {
    /// What a claim ties its proof to; nil for claims that speak for themselves.
    static func of(claim name: String) -> String? {
        switch name {
        case "ash": "the hash of auth_session: this sign-in session"
        case "cer": "this ceremony"
        case "chl": "the challenge of this ceremony"
        case "jkt": "the install's DPoP key, which opened the session"
        case "fth": "the hash of the face token sent along"
        case "ath": "the hash of the access token sent along"
        case "tkt": "the hash of the ticket or code"
        case "nonce": "the server's nonce, so the proof is new"
        default: nil
        }
    }

    /// Why a server refuses, and what follows; nil where the error speaks for itself.
    static func of(error name: String?) -> String? {
        switch name {
        case "use_dpop_nonce": "the proof must carry a nonce of the server's; nothing was used up"
        case "insufficient_authorization": "no refusal yet: the session is open and asks for the ceremony"
        default: nil
        }
    }
}
