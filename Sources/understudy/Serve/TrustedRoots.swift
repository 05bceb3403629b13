import Control
import Device
import Encoding
import Engine
import Glibc
import JOSE
import ReferenceIdP
import Store

/// Whose word reference IdPs without a phone take about calling apps: exported roots, or those of a state directory.
enum TrustedRoots {
    static let option = OptionSpec.many(
        "attestation-roots", "PATH", standard: "those of --state, where it has some",
        help: "trust what roots export wrote (its directory, JSON or PEM), or the roots of a state directory")

    /// Trust, and whom it is in, for people.
    struct Found: Equatable {
        var trust = AttestationTrust()
        var names: [String] = []

        /// A line that says whom is trusted.
        var line: String {
            names.isEmpty
                ? "attestation: nobody is trusted; --attestation-roots names roots"
                : "attestation: trusts \(names.joined(separator: ", "))"
        }
    }

    /// What the options ask for, and where they ask for nothing what the state directory has.
    static func find(_ parsed: ParsedArguments, _ settings: Settings) throws(CommandFailure) -> Found {
        var found = Found()
        let paths = parsed.all(option.name)
        for path in paths {
            try found.add(try read(path), path)
        }
        guard paths.isEmpty, hasStore(settings.stateDirectory) else { return found }
        if let trust = try stored(in: settings.stateDirectory) {
            try found.add(trust, "the roots of \(settings.stateDirectory)")
        }
        return found
    }

    private static func read(_ path: String) throws(CommandFailure) -> AttestationTrust {
        guard isDirectory(path) else { return try file(path) }
        if hasStore(path) {
            guard let trust = try stored(in: path) else {
                throw refusal("\(path) has no roots yet; they are made by: understudy roots export --state \(path)")
            }
            return trust
        }
        return try exported(path)
    }

    // MARK: Files

    /// The files of `roots export --dir`; each may be missing, and not all.
    private static func exported(_ directory: String) throws(CommandFailure) -> AttestationTrust {
        func text(_ name: String) -> String? {
            PrivateFile.read("\(directory)/\(name)", limit: largest).map { String(decoding: $0, as: UTF8.self) }
        }
        func key(_ name: String) -> String? { text(name)?.filter { !$0.isWhitespace } }
        var attesters: JSON?
        if let written = text("attesters.json") {
            guard let json = try? JSON(parsing: Array(written.utf8)) else {
                throw refusal("\(directory)/attesters.json is no JSON")
            }
            attesters = json
        }
        return try trust(
            directory, apple: text("app-attest-root.pem"), android: text("android-root.pem"),
            decryption: key("play-decryption-key.txt"), verification: key("play-verification-key.txt"),
            attesters: attesters)
    }

    /// The document of `roots export`, or PEM certificates, which are trusted for App Attest and Android alike.
    private static func file(_ path: String) throws(CommandFailure) -> AttestationTrust {
        guard let bytes = PrivateFile.read(path, limit: largest) else {
            throw refusal("cannot read \(path), or it is over \(largest >> 10) KiB")
        }
        if let json = try? JSON(parsing: bytes), json.object != nil { return try document(json, path) }
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.contains("-----BEGIN CERTIFICATE-----") else {
            throw refusal("\(path) is neither what roots export writes nor PEM certificates")
        }
        return try trust(path, apple: text, android: text)
    }

    private static func document(_ json: JSON, _ path: String) throws(CommandFailure) -> AttestationTrust {
        if json["keys"] != nil { return try trust(path, attesters: json) }
        func text(_ name: String) throws(CommandFailure) -> String? {
            guard let value = json[name] else { return nil }
            guard let text = value.string else { throw refusal("\(path): \(name) is no text") }
            return text
        }
        return try trust(
            path, apple: try text("apple_root"), android: try text("android_root"),
            decryption: try text("play_decryption_key"), verification: try text("play_verification_key"),
            attesters: json["attesters"])
    }

    private static func trust(
        _ path: String, apple: String? = nil, android: String? = nil, decryption: String? = nil,
        verification: String? = nil, attesters: JSON? = nil
    ) throws(CommandFailure) -> AttestationTrust {
        guard apple ?? android ?? decryption ?? verification != nil || attesters != nil else {
            throw refusal("\(path) holds no roots: name what roots export wrote, or a state directory")
        }
        do throws(AttestationTrustError) {
            return try AttestationTrust(
                appleRoots: apple, androidRoots: android, playDecryptionKey: decryption,
                playVerificationKey: verification, attesters: attesters)
        } catch {
            throw refusal("\(path): \(error)")
        }
    }

    // MARK: State directories

    private static func hasStore(_ directory: String) -> Bool { access(directory + "/understudy.db", F_OK) == 0 }

    /// The roots of a state directory, whoever works in it; nil where none were made yet.
    private static func stored(in directory: String) throws(CommandFailure) -> AttestationTrust? {
        let store: Store
        do throws(StoreError) {
            store = try Store(directory: directory)
        } catch {
            throw CommandFailure(error)
        }
        do {
            return try AttestationRoots.kept(in: store).map { roots in try AttestationTrust(roots.published) }
        } catch {
            throw CommandFailure(exit: .configuration, code: "attestation_roots", message: "\(directory): \(error)")
        }
    }

    private static let largest = 1 << 20

    private static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private static func refusal(_ message: String) -> CommandFailure { .badValue(option.name, message) }
}

extension TrustedRoots.Found {
    /// Trusts more; Play's two keys can be there once only.
    fileprivate mutating func add(_ more: AttestationTrust, _ name: String) throws(CommandFailure) {
        trust.appleRoots += more.appleRoots.filter { !trust.appleRoots.contains($0) }
        trust.androidRoots += more.androidRoots.filter { !trust.androidRoots.contains($0) }
        trust.attesters = JWKSet(
            trust.attesters.entries + more.attesters.entries.filter { !trust.attesters.entries.contains($0) })
        let isOther =
            trust.playDecryptionKey.map { $0 != more.playDecryptionKey ?? $0 } ?? false
            || trust.playVerificationKey.map { $0 != more.playVerificationKey ?? $0 } ?? false
        guard !isOther else {
            throw .badValue(
                TrustedRoots.option.name,
                "\(name): a server has one pair of Play Integrity keys, and these are another's")
        }
        trust.playDecryptionKey = trust.playDecryptionKey ?? more.playDecryptionKey
        trust.playVerificationKey = trust.playVerificationKey ?? more.playVerificationKey
        names.append(name)
    }
}
