/// The platform a virtual device claims to be, as the `platform` claim of an enrolment names it.
public enum Platform: String, Codable, Sendable, Hashable, CaseIterable {
    /// An iPhone: Secure Enclave keys, App Attest.
    case ios
    /// An Android phone: Keystore keys, Play Integrity.
    case android
}
