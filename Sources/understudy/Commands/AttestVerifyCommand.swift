import Control
import Crypto
import Encoding
import JOSE
import ReferenceIdP

/// `understudy attest verify`: a piece of evidence, explained field by field.
enum AttestVerifyCommand {
    static let spec = CommandSpec(
        "attest verify", "say of a piece of attestation evidence what is in it, field by field, and what is wrong",
        arguments: [ArgumentSpec(name: "FILE", help: "the evidence, as sent or bare; - for standard input")],
        options: [
            .one("format", "F", form: .choice(EvidenceQuestion.formats), required: true, help: "the kind of evidence"),
            .one("challenge", "C", help: "the challenge it should be bound to"),
            .one(
                "kind", "KIND", form: .choice(["raw", "start", "enrolment"]), standard: "raw",
                help: "bound to the challenge alone, or to a request of section 14 of the wire"),
            .one("client", "ID", help: "with --kind start: the client_id"),
            .one("code-challenge", "TEXT", help: "with --kind start: the PKCE challenge"),
            .one("jkt", "JKT", help: "with --kind start: the thumbprint of the DPoP key"),
            .one("kid", "KID", help: "with --kind enrolment: the thumbprint of the device key"),
            .many(
                "stale-challenge", "C", help: "a challenge given out earlier: evidence for it is stale, not another's"),
            .many(
                "after", "FILE",
                help: "evidence verified before: the same again, and a counter not above its, are faults"),
            .many("roots", "PEM", help: "a file of trusted roots"),
            .one("play-decryption-key", "B64", help: "Play's AES key as the console shows it, or @FILE"),
            .one("play-verification-key", "B64", help: "Play's signing key as the console shows it, or @FILE"),
            .one("attested-key", "B64", help: "for an assertion: the attested key's SubjectPublicKeyInfo, or @FILE"),
            .many("app-id", "ID", help: "an app id or package that is expected; nothing is expected without one"),
            .many("certificate-digest", "HEX", help: "SHA-256 of a certificate the Android app may be signed with"),
            .one(
                "environment", "E", form: .choice(AttestationPolicy.Environment.allCases.map(\.rawValue)),
                standard: "any", help: "the App Attest environment expected"),
        ],
        notes: [
            """
            A field is ok, a fault, or unchecked where nothing was given to compare it with. Exit code 0 where \
            nothing is a fault, 1 where something is.
            """,
            "Other people's evidence can be looked at too: nothing but the roots given is trusted.",
            """
            What came before is given with --after, in any order, each as sent or bare. It is taken at its word: verify it \
            first. An assertion's key is that of the earlier attestation where --attested-key says none.
            """,
        ], action: run)

    private static func run(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let content = try read(parsed.arguments[0], field: "FILE")
        let question: EvidenceQuestion
        do throws(EvidenceQuestionError) {
            question = try EvidenceQuestion(content, format: parsed.required("format"))
        } catch {
            throw .badValue("FILE", error.description)
        }
        let explanation = question.explained(try knowledge(parsed))
        context.output.result(explanation.json, lines: lines(explanation))
        return explanation.holds ? .done : .failed
    }

    private static func lines(_ explanation: EvidenceExplanation) -> [String] {
        let fields = explanation.fields.flatMap { field in
            let head = "\(mark(field.verdict))  \(Display.safe(field.name)): \(Display.safe(field.value))"
            return field.verdict == .fault
                ? [head, "       \(field.rule): expected \(Display.safe(field.expected))"] : [head]
        }
        let open = explanation.fields.count { $0.verdict == .unchecked }
        let faults = explanation.faults.count
        let verdict = faults == 0 ? "no fault" : "\(faults) \(faults == 1 ? "fault" : "faults")"
        return fields + [open == 0 ? verdict : "\(verdict), \(open) not checked"]
    }

    private static func mark(_ verdict: EvidenceExplanation.Verdict) -> String {
        switch verdict {
        case .ok: "ok   "
        case .fault: "FAULT"
        case .unchecked: "-    "
        }
    }

    private static func knowledge(_ parsed: ParsedArguments) throws(CommandFailure) -> EvidenceKnowledge {
        var known = EvidenceKnowledge(trust: try trust(parsed), now: SystemClock.now())
        known.policy = try policy(parsed)
        known.binding = try parsed["challenge"].map { (text) throws(CommandFailure) in try binding(text, parsed) }
        for challenge in parsed.all("stale-challenge") {
            guard challenge != parsed["challenge"] else {
                throw .badValue("stale-challenge", "'\(challenge)' is the challenge that is expected")
            }
            known.stale.append(try binding(challenge, parsed))
        }
        known.attestedKey = try attestedKey(parsed)
        known.memory = try memory(parsed, known)
        return known
    }

    /// What was taken before, as the files say.
    private static func memory(
        _ parsed: ParsedArguments, _ known: EvidenceKnowledge
    ) throws(CommandFailure) -> EvidenceMemory {
        var memory = EvidenceMemory()
        for path in parsed.all("after") {
            let content = try read(path, field: "after")
            do throws(EvidenceQuestionError) {
                let earlier = try EvidenceQuestion(recognizing: content)
                try memory.remember(earlier, trust: known.trust, now: known.now)
            } catch {
                throw .badValue("after", "\(path): \(error.description)")
            }
        }
        return memory
    }

    private static func binding(
        _ challenge: String, _ parsed: ParsedArguments
    ) throws(CommandFailure) -> EvidenceQuestion.Binding {
        switch parsed["kind"] ?? "raw" {
        case "start":
            return .start(
                challenge: challenge, clientID: try needed("client", parsed),
                codeChallenge: try needed("code-challenge", parsed), jkt: try needed("jkt", parsed))
        case "enrolment": return .enrolment(challenge: challenge, kid: try needed("kid", parsed))
        default: return .challenge(challenge)
        }
    }

    private static func needed(_ name: String, _ parsed: ParsedArguments) throws(CommandFailure) -> String {
        guard let value = parsed[name] else { throw .badValue(name, "needed with --kind \(parsed["kind"] ?? "raw")") }
        return value
    }

    private static func policy(_ parsed: ParsedArguments) throws(CommandFailure) -> AttestationPolicy? {
        let ids = parsed.all("app-id")
        guard !ids.isEmpty else { return nil }
        var digests: [[UInt8]] = []
        for text in parsed.all("certificate-digest") {
            guard let digest = try? Hex.decode(text), digest.count == 32 else {
                throw .badValue("certificate-digest", "64 hexadecimal digits are wanted")
            }
            digests.append(digest)
        }
        var policy = AttestationPolicy(
            iosAppIDs: ids,
            androidApps: ids.map { AttestationPolicy.AndroidApp(package: $0, certificateDigests: digests) })
        policy.environment = parsed["environment"].flatMap(AttestationPolicy.Environment.init) ?? .any
        return policy
    }

    private static func trust(_ parsed: ParsedArguments) throws(CommandFailure) -> AttestationTrust {
        var pem = ""
        for path in parsed.all("roots") {
            pem += String(decoding: try read(path, field: "roots"), as: UTF8.self) + "\n"
        }
        let decryptionKey = try text("play-decryption-key", parsed)
        let verificationKey = try text("play-verification-key", parsed)
        do throws(AttestationTrustError) {
            return try AttestationTrust(
                appleRoots: pem.isEmpty ? nil : pem, androidRoots: pem.isEmpty ? nil : pem,
                playDecryptionKey: decryptionKey, playVerificationKey: verificationKey, attesters: nil)
        } catch {
            throw .badValue(error.part == "apple_roots" ? "roots" : error.part.replacing("_", with: "-"), error.reason)
        }
    }

    private static func attestedKey(_ parsed: ParsedArguments) throws(CommandFailure) -> [UInt8]? {
        guard let text = try text("attested-key", parsed) else { return nil }
        guard let spki = try? Base64.decode(text), let key = try? P256.PublicKey(spki: spki) else {
            throw .badValue("attested-key", "a P-256 SubjectPublicKeyInfo in base64 is wanted")
        }
        return key.x963
    }

    /// A value, or the one in the file behind an `@`.
    private static func text(_ name: String, _ parsed: ParsedArguments) throws(CommandFailure) -> String? {
        guard let value = parsed[name] else { return nil }
        guard value.hasPrefix("@") else { return value }
        let bytes = try read(String(value.dropFirst()), field: name)
        return String(decoding: bytes, as: UTF8.self).filter { !$0.isWhitespace }
    }

    private static func read(_ path: String, field: String) throws(CommandFailure) -> [UInt8] {
        guard path != "-" else { return try RequestBody.read(.standardInput).bytes }
        guard let bytes = PrivateFile.read(path, limit: 1 << 20) else { throw .badValue(field, "cannot read \(path)") }
        return bytes
    }
}
