import Encoding

/// Stand-ins for secrets in logs, journals and reports.
public enum Redaction {
    /// A short stable mark of a secret, such as `‹3fa94c01›`: equal secrets have equal marks.
    ///
    /// A token cannot be had back from its mark; a six-digit code can, by trying them all, and is left
    /// out altogether. An empty text is `‹empty›`.
    public static func fingerprint(_ secret: String) -> String {
        guard !secret.isEmpty else { return "‹empty›" }
        return "‹\(Hex.encode([UInt8](SHA256.hash(ascii: secret).prefix(4))))›"
    }
}
