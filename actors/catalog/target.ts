// One way to run a model or a search: a provider's record as adapters take it.
import type { UpstreamTarget } from '../../media/providers/generation/contract.ts';
import type { ProviderRecord } from './document.ts';

/** `upstreamModel` of a search is the surface: the route is `provider/surface`. */
export function upstreamTarget(provider: ProviderRecord, upstreamModel: string): UpstreamTarget {
  const { quirks, forward_members: forwardMembers, public_name: publicName, region } = provider;
  const { obfuscation_switch, output_ceiling, system_messages, custom_tools, strict_members } =
    quirks ?? {};
  return {
    routeId: `${provider.name}/${upstreamModel}`,
    ...(publicName === undefined ? {} : { publicName }),
    ...(region === undefined ? {} : { region }),
    family: provider.family,
    baseUrl: provider.base_url.replace(/\/+$/, ''),
    apiKey: provider.api_key ?? null,
    upstreamModel,
    quirks: {
      ...(obfuscation_switch === undefined ? {} : { obfuscationSwitch: obfuscation_switch }),
      ...(output_ceiling === undefined ? {} : { outputCeiling: output_ceiling }),
      ...(system_messages === undefined ? {} : { systemMessages: system_messages }),
      ...(custom_tools === undefined ? {} : { customTools: custom_tools }),
      ...(strict_members === undefined ? {} : { strictMembers: strict_members }),
    },
    ...(forwardMembers === undefined ? {} : { forwardMembers }),
  };
}
