public import HTTP

/// What an issuer identifier must look like before anything is sent to it.
///
/// The ID token's signature need not be checked because it comes over TLS straight from the issuer (OIDC Core
/// section 3.1.3.7), so the issuer must be `https`. Plain `http` is for a reference server on this machine.
public enum IssuerRule {
    /// The issuer as a URL.
    ///
    /// Throws ``MetadataError/issuer(rule:)`` where the text is no absolute URL, has a query or fragment (RFC 8414
    /// section 2), or is plain `http` elsewhere than on loopback with the switch on.
    public static func url(
        _ issuer: String, allowPlainHTTPOnLoopback: Bool
    ) throws(MetadataError) -> HTTPURL {
        guard !issuer.utf8.contains(UInt8(ascii: "?")), !issuer.utf8.contains(UInt8(ascii: "#")) else {
            throw .issuer(rule: "must have no query and no fragment")
        }
        let url: HTTPURL
        do { url = try HTTPURL(issuer) } catch {
            throw .issuer(rule: "is no absolute https URL")
        }
        if url.isSecure { return url }
        guard url.isLoopback else { throw .issuer(rule: "must be https, since it is not on loopback") }
        guard allowPlainHTTPOnLoopback else {
            throw .issuer(rule: "is plain http, which is allowed on loopback only with the switch for it on")
        }
        return url
    }
}
