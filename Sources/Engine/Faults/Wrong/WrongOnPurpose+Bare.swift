package import Crypto
package import Profiles
package import Transport

extension WrongOnPurpose {
    /// The request with this wrong in it, for a prober that has no phone of this engine behind it.
    ///
    /// `ahead` is a right request that must go out first, where the wrong is a repetition. Throws `.invalid` where
    /// something the wrong needs is not there.
    package func altered(
        _ request: ClientRequest, at place: Place, installKey: P256.PrivateKey, ceremonyKey: P256.PrivateKey,
        nonceOfOtherRole: String?, entropy: Entropy, profile: SenseCryptProfile
    ) throws(EngineError) -> (ahead: ClientRequest?, request: ClientRequest) {
        var ingredients = WrongIngredients(place: place, installKey: installKey, entropy: entropy, profile: profile)
        ingredients.ceremonyKey = ceremonyKey
        ingredients.nonceOfOtherRole = nonceOfOtherRole
        do throws(WrongUnavailable) {
            let draft = try altered(request, ingredients)
            return (draft.ahead, draft.request)
        } catch {
            throw .invalid(field: "wrong", rule: error.why, value: rawValue)
        }
    }
}
