import Encoding

/// Tells a flow step by step, in lines: one for each step, or, when asked for more, with what each call proved.
///
/// Everything it says is read from the steps; it knows what words mean, not what should have happened.
struct FlowNarrator {
    let style: Style
    let verbose: Bool
    /// What more is known of a call than its step tells; nil for nothing.
    let evidence: CallEvidence?
    private var lastError: String?
    private var explained: Set<String> = []

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
        case "evidence": ["  " + vouching(step)]
        case "fault": ["  fault as asked: \(step.shown("fault")) at \(step.shown("call"))"]
        default: ["  \(step.shown("kind")): \(step.shown)"]
        }
    }

    private func state(_ step: JSON) -> String {
        var remarks: [String] = []
        if let left = step["attempts_left"]?.int { remarks.append("\(left) attempt\(left == 1 ? "" : "s") left") }
        if let outcome = step["outcome"] { remarks.append("last scan: \(outcome.shown)") }
        if let reason = step["reason"] ?? step["cause"] { remarks.append(reason.shown) }
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
        case "key operation": "the face token's keys: \(step.shown("operation")), scope \(step.shown("scope"))"
        case "keys not ready": "the face token holds no keys of class \(step.shown("class")) yet"
        default: "face token: \(step.shown("event"))"
        }
    }

    private func vouching(_ step: JSON) -> String {
        guard step["event"] == "made" else { return style.bad("no evidence about the app: \(step.shown("why"))") }
        let counter = step["counter"].map { ", counter \($0.shown)" } ?? ""
        let defect = step["defect"].map { ", wrong as asked: \($0.shown)" } ?? ""
        return "evidence about the app: \(step.shown("format"))\(counter)\(defect)"
    }

    private mutating func call(_ step: JSON) -> [String] {
        defer { lastError = step["error"]?.string }
        let attempt = step["attempt"]?.int ?? 1
        let name = style.strong(step.shown("call")) + (attempt > 1 ? " (attempt \(attempt))" : "")
        let path = Self.path(step.shown("url"))
        guard verbose else {
            // A query is for those who ask for more.
            return ["  \(name)  \(step.shown("method")) \(path.prefix { $0 != "?" })  \(answer(step))"]
        }
        let head = "  \(name)  \(step.shown("method")) \(path)"
        var lines = [head]
        for proof in step["proved"]?.array ?? [] { lines += self.proof(proof) }
        if let origin = step["client_assertion"]?["by"] {
            lines += row("proved", "client_assertion in the body, by the confidential client's \(origin.shown)")
        }
        if let attestation = step["client_attestation"] {
            let how = attestation.shown("mode") == "normal" ? "with a proof of its key" : "of the DPoP key"
            let defect = attestation["defect"].map { ", wrong as asked: \($0.shown)" } ?? ""
            lines += row("proved", "OAuth-Client-Attestation header, \(how)\(defect)")
        }
        let known = evidence?.consume(step)
        for line in known?.proved ?? [] { lines += row("proved", line) }
        lines += row(step["lost"] == nil ? "answered" : "lost", answer(step))
        if let why = Meaning.of(error: step["error"]?.string) { lines += row("", why) }
        for (index, line) in (known?.got ?? []).enumerated() { lines += row(index == 0 ? "got" : "", line) }
        return lines
    }

    private func answer(_ step: JSON) -> String {
        if let lost = step["lost"] { return style.bad("no answer: \(lost.shown)") }
        let status = step.shown("status")
        guard let error = step["error"] else { return style.good(status) }
        let description = step["error_description"].map { ": \($0.shown)" } ?? ""
        return "\(style.bad("\(status) \(error.shown)"))\(description)"
    }

    /// A signed proof: where it stood, whose key made it, and its claims; what a claim ties the proof to is
    /// said the first time.
    private mutating func proof(_ proof: JSON) -> [String] {
        let place = proof["header"].map { "\($0.shown) header" } ?? "\(proof.shown("body")) in the body"
        var lines = row("proved", "\(place), signed by the \(proof.shown("by")) \(proof.shown("kid"))")
        var plain: [String] = []
        var meanings: [String] = []
        for claim in proof["claims"]?.object?.members ?? [] {
            let text = "\(Display.safe(claim.name)) \(Shortened.text(claim.value.shown))"
            let meaning = meaning(of: claim.name)
            if let meaning { meanings.append("\(text): \(meaning)") } else { plain.append(text) }
        }
        if !plain.isEmpty { lines += row("", plain.joined(separator: ", ")) }
        for meaning in meanings { lines += row("", meaning) }
        return lines
    }

    private mutating func meaning(of claim: String) -> String? {
        if claim == "nonce", lastError == "use_dpop_nonce" { return "the nonce the server just asked for" }
        guard let meaning = Meaning.of(claim: claim), explained.insert(claim).inserted else { return nil }
        return meaning
    }

    /// A labelled text, wrapped at commas where it is long.
    private func row(_ label: String, _ text: String) -> [String] {
        let wrapped = Shortened.wrap(text, to: 100)
        return wrapped.enumerated().map { index, line in
            guard index == 0 else { return String(repeating: " ", count: 16) + line }
            return "    " + style.faint(label) + String(repeating: " ", count: max(0, 10 - label.count)) + line
        }
    }

    /// The path of a URL, for lines that a person skims.
    static func path(_ url: String) -> String {
        let parts = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        return parts.count == 4 ? "/" + parts[3] : url
    }
}

/// Long values for people: enough of them to tell one from another.
enum Shortened {
    /// Values up to this length stay whole.
    private static let longest = 16

    /// A hash, a nonce or the like by its beginning; URLs, addresses, words and sentences stay whole.
    static func text(_ value: String) -> String {
        let isRandom = value.contains { $0.isNumber || $0.isUppercase } && !value.contains { ":@ ".contains($0) }
        return value.count > longest && isRandom ? value.prefix(12) + "…" : value
    }

    /// A line divided at commas so that the parts fit a width; what stands between two commas stays whole.
    static func wrap(_ text: String, to width: Int) -> [String] {
        var lines: [String] = []
        for part in text.split(separator: ", ", omittingEmptySubsequences: false) {
            if let last = lines.last, last.count + part.count + 2 <= width {
                lines[lines.count - 1] += ", " + part
            } else {
                if !lines.isEmpty { lines[lines.count - 1] += "," }
                lines.append(String(part))
            }
        }
        return lines
    }
}

/// What claims and errors are for, in a few words.
enum Meaning {
    /// What a claim ties its proof to; nil for claims that speak for themselves.
    static func of(claim name: String) -> String? {
        switch name {
        case "ash": "the hash of auth_session: this sign-in session and no other"
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
        case "attestation_required": "the tenant wants evidence about the app with this call"
        case "use_attestation_challenge": "the attestation must be for a fresh challenge of the server's"
        case "use_fresh_attestation": "the client's attestation is too old; a new one is asked of the attester"
        case "attestation_failed": "the evidence about the app breaks the rule named"
        case "insufficient_authorization": "no refusal yet: the session is open and asks for the ceremony"
        default: nil
        }
    }
}
