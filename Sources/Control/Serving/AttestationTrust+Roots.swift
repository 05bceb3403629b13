public import Device
import JOSE
public import ReferenceIdP

extension AttestationTrust {
    /// Trusts those who vouch for the phones of a state directory.
    ///
    /// Throws `AttestationTrustError` where the roots cannot be read, which would be our own mistake.
    public init(_ roots: PublishedRoots) throws(AttestationTrustError) {
        try self.init(
            appleRoots: roots.appleRoot, androidRoots: roots.androidRoot, playDecryptionKey: roots.playDecryptionKey,
            playVerificationKey: roots.playVerificationKey, attesters: roots.attesters.json)
    }
}
