/// How a client checks the servers it speaks TLS with.
///
/// Certificates are always verified, host name included; there is no way to switch that off.
public struct TLSClientSettings: Sendable, Hashable {
    /// A PEM file with the only certification authorities to trust; nil trusts the system's store.
    public var caFile: String?

    /// The name to send as SNI and to find in the certificate instead of the URL's host.
    ///
    /// For a server reached under an address its certificate does not name. Nil uses the host of the URL.
    public var pinnedServerName: String?

    /// Settings; without arguments those of an ordinary client.
    public init(caFile: String? = nil, pinnedServerName: String? = nil) {
        self.caFile = caFile
        self.pinnedServerName = pinnedServerName
    }
}

/// What a server shows of itself.
public struct TLSServerSettings: Sendable, Hashable {
    /// A PEM file: the server's certificate first, then the intermediate ones.
    public var certificateChainFile: String

    /// A PEM file with the private key of the first certificate, not encrypted.
    public var privateKeyFile: String

    /// The two files a TLS server needs.
    public init(certificateChainFile: String, privateKeyFile: String) {
        self.certificateChainFile = certificateChainFile
        self.privateKeyFile = privateKeyFile
    }
}
